import { z } from 'zod'
import type { HookContext } from '../agents/hooks.ts'
import { inputProblem } from '../agents/check-tool.ts'
import type { Principal } from '../auth/principal.ts'
import type { JsonSchema } from '../models/model.ts'

/** For whom an artifact is read again. */
export interface ArtifactContext {
  readonly principal: Principal
  readonly threadId: string
  readonly messageId: string
  readonly artifactId: string
  /** What addresses of this service begin with, for the reader who asks. */
  readonly baseUrl: string
  /** Aborts when it has taken too long. */
  readonly signal: AbortSignal
}

/** What readers of a thread's artifacts are given in place of the stored data. */
export type ResolveArtifact = (data: never, context: ArtifactContext) => unknown

/** Which call an artifact is built of. */
export type ToolArtifactContext = HookContext & { readonly callId: string, readonly toolName: string }

/**
 * The data of an artifact that is shown with a tool's result; null or undefined for none this time. `result` is what the
 * tool gave; a text of a JSON object or list comes as that.
 */
export type BuildArtifact = (args: Readonly<Record<string, unknown>>, result: unknown, context: ToolArtifactContext) => unknown

const dataSchema = z.custom<z.ZodType | JsonSchema>(() => true).superRefine((schema, { addIssue }) => {
  const problem = inputProblem(schema)
  if (problem !== undefined) addIssue({ code: 'custom', message: problem })
})

/** An artifact as a definition says it; one that is defined already stays as it is. */
export const artifactSchema = z.strictObject({
  kind: z.literal('artifact', 'expected an artifact made by defineArtifact, or an entry with its attributes').default('artifact'),
  // With what goes before it, as long as a tool's name may be.
  name: z.string().regex(/^[A-Za-z0-9_-]{1,55}$/, 'expected letters, digits, "_" or "-", at most 55'),
  title: z.string().min(1).optional(),
  description: z.string().default(''),
  data: dataSchema,
  resolve: z.custom<ResolveArtifact>((value) => typeof value === 'function', 'expected a function').optional()
}).readonly()

/** Something structured that an agent gives its user: shown in the chat, kept with the message, listed with the thread. */
export type Artifact = z.output<typeof artifactSchema>

type DataOf<D extends z.ZodType | JsonSchema> = D extends z.ZodType ? z.output<D> : Record<string, unknown>

export interface ArtifactDefinition<D extends z.ZodType | JsonSchema> {
  name: string
  /** What people see. */
  title?: string
  /** What the model is told of it. */
  description?: string
  /** A zod object, or the JSON Schema of one. */
  data: D
  /** Called for each reader of the list: for what does not keep, such as an address that expires. What it throws is logged; the stored data is shown then. */
  resolve?: (data: DataOf<D>, context: ArtifactContext) => unknown
}

/** Throws a ZodError listing everything that is wrong with it. */
export function defineArtifact<D extends z.ZodType | JsonSchema> (definition: ArtifactDefinition<D>): Artifact {
  return artifactSchema.parse(definition)
}
