import type { Toolset, OfferedTool } from './toolset.ts'

/** A model's tool call after its arguments were read: either runnable, or with what is wrong in words the model can use. */
export type CheckedCall = {
  readonly callId: string
  /** The tool's own name, or the model's where there is no such tool. */
  readonly toolName: string
  readonly modelName: string
  /** The text of a JSON object, for replay to the model. */
  readonly arguments: string
} & (
  | { readonly ok: true, readonly offered: OfferedTool, readonly input: unknown }
  | { readonly ok: false, readonly input: unknown, readonly problem: string }
)

/** Reads a complete call's arguments. Never throws: everything wrong becomes the call's `problem`. */
export function checkCall (call: { callId: string, modelName: string, arguments: string, complete: boolean }, toolset: Toolset): CheckedCall {
  const offered = toolset.byModelName(call.modelName)
  const named = { callId: call.callId, modelName: toolset.modelName(call.modelName), toolName: offered?.tool.name ?? call.modelName }
  const parsed = parseObject(call.arguments)
  const refuse = (problem: string): CheckedCall => ({ ...named, ok: false, arguments: parsed.text, input: parsed.input, problem })

  if (!call.complete) return refuse('The arguments of this call were cut off, so it was not run. Call it again with complete arguments.')
  if (offered === undefined) return refuse(unknownTool(call.modelName, toolset))
  if (!parsed.ok) return refuse(`The arguments of "${offered.tool.name}" must be one JSON object. Call it again with valid JSON.`)
  const checked = offered.check(parsed.input)
  if (checked.ok) return { ...named, ok: true, offered, arguments: parsed.text, input: checked.value }
  const faults = checked.issues.map(({ path, message }) => path === '' ? message : `${path}: ${message}`).join('; ')
  return refuse(`The arguments of "${offered.tool.name}" do not fit: ${faults}`)
}

function unknownTool (name: string, { specs }: Toolset): string {
  const available = specs.length === 0 ? 'No tools can be called now.' : `Available: ${specs.map((spec) => spec.name).join(', ')}.`
  return `No such tool "${name}". ${available}`
}

function parseObject (text: string): { ok: boolean, input: unknown, text: string } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, input: withoutProto(value), text }
  } catch {
    // Told apart below: what is not a JSON object is kept as the text it was.
  }
  return { ok: false, input: text, text: '{}' }
}

/** JSON.parse makes `__proto__` an own key, which a later copy would turn into the prototype. */
function withoutProto (value: object): object {
  if (!JSON.stringify(value).includes('"__proto__"')) return value
  return JSON.parse(JSON.stringify(value), (key, inner) => key === '__proto__' ? undefined : inner)
}
