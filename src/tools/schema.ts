import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import type { ErrorIssue } from '../errors.ts'
import type { JsonSchema } from '../models/model.ts'

export type Checked = { readonly ok: true, readonly value: unknown } | { readonly ok: false, readonly issues: readonly ErrorIssue[] }

/** Not instanceof: configuration files may bring their own copy of zod. */
export function isZod (schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}

/** The schema as a provider takes it. */
export function toJsonSchema (schema: z.ZodType | JsonSchema): JsonSchema {
  if (!isZod(schema)) return schema
  const { $schema, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}

/** Compiles once; the result checks values and names the path of everything wrong. Throws on an unusable JSON schema. */
export function compileSchema (schema: z.ZodType | JsonSchema): (value: unknown) => Checked {
  return isZod(schema) ? zodCheck(schema) : jsonCheck(schema)
}

function zodCheck (schema: z.ZodType): (value: unknown) => Checked {
  return (value) => {
    const result = schema.safeParse(value)
    if (result.success) return { ok: true, value: result.data }
    return { ok: false, issues: result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message })) }
  }
}

function jsonCheck (schema: JsonSchema): (value: unknown) => Checked {
  // Lenient on keywords: schemas of other people's tools carry vendor extensions.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (value) => {
    if (validate(value)) return { ok: true, value }
    return { ok: false, issues: (validate.errors ?? []).map((error) => ({ path: error.instancePath.slice(1).replaceAll('/', '.'), message: error.message ?? 'is invalid' })) }
  }
}
