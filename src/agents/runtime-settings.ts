import { z } from 'zod'

const text = z.string().refine((value) => !value.includes('\0'), 'must not contain the NUL character')
const optional = {
  description: text.max(1_000).nullable(),
  instructions: text.max(32_000).nullable(),
  model: text.min(1).max(200).nullable(),
  suggestions: z.boolean().nullable()
}
const base = text.min(1).max(200)
const name = text.trim().min(1).max(100)
const tools = z.array(text.min(1).max(200)).max(64)

/** What is said of a runtime agent. What is null is as its base has it. */
export const runtimeSettingsSchema = z.strictObject({
  /** Key, alias or id of an agent that runtime agents may be made of. */
  base,
  name,
  description: optional.description.default(null),
  instructions: optional.instructions.default(null),
  model: optional.model.default(null),
  /** Names of tools it has beside those of its base. */
  tools: tools.default([]),
  suggestions: optional.suggestions.default(null),
  /** Whether it can be talked to. */
  active: z.boolean().default(true)
})

export type RuntimeSettings = Readonly<z.output<typeof runtimeSettingsSchema>>

/** What changes of it. */
export const runtimePatchSchema = z.strictObject({ base, name, ...optional, tools, active: z.boolean() }).partial()

export type RuntimePatch = Readonly<z.output<typeof runtimePatchSchema>>
