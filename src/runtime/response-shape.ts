import type { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import type { JsonSchema } from '../models/model.ts'
import { compileSchema, isZod, toJsonSchema, type Checked } from '../tools/schema.ts'
import type { RunInput } from './run-input.ts'
import { withinTime } from './time-box.ts'

type Response = NonNullable<RunInput['response']>

// A caller's schema is a program of sorts: reading it may take longer than it is long, and its patterns may never end.
const compileTimeMs = 1_000
const checkTimeMs = 250

/** What a run is told of the shape of its answer. An unusable JSON schema, which came from outside, is refused under `path`. */
export function responseShape (schema: z.ZodType | JsonSchema | undefined, path: string): Response | undefined {
  if (schema === undefined) return undefined
  if (isZod(schema)) return { schema: toJsonSchema(schema), check: compileSchema(schema) }
  const compiled = compileInTime(schema, path)
  if (compiled === undefined) throw invalidRequest(`${path}: the JSON schema is too large.`, [{ path, message: 'expected a smaller JSON schema' }])
  return { schema, check: (value) => withinTime(checkTimeMs, () => compiled.value(value))?.value ?? unchecked }
}

const unchecked: Checked = { ok: false, issues: [{ path: '', message: 'took too long to check' }] }

function compileInTime (schema: JsonSchema, path: string): { readonly value: (value: unknown) => Checked } | undefined {
  try {
    return withinTime(compileTimeMs, () => compileSchema(schema))
  } catch {
    throw invalidRequest(`${path}: not a usable JSON schema.`, [{ path, message: 'expected a JSON schema' }])
  }
}

/** The value in a model's structured answer; undefined when it is not JSON of the asked shape. */
export function readResponse (text: string, { check }: Response): { readonly value: unknown } | undefined {
  try {
    const checked = check(JSON.parse(unfenced(text)))
    return checked.ok ? { value: checked.value } : undefined
  } catch {
    return undefined // not JSON: the same as not fitting
  }
}

/** What the model is told when its answer does not fit; undefined when it does. */
export function responseProblem (text: string, response: Response): string | undefined {
  if (readResponse(text, response) !== undefined) return undefined
  return 'Answer now with one JSON value that fits the requested schema, and nothing else.'
}

const fence = '```'

/** Some models wrap JSON in a Markdown fence although told not to. No pattern: some also fill the answer with blanks. */
function unfenced (text: string): string {
  const trimmed = text.trim()
  if (trimmed.length < 2 * fence.length || !trimmed.startsWith(fence) || !trimmed.endsWith(fence)) return text
  return trimmed.slice(fence.length, -fence.length).replace(/^json/, '').trim()
}
