import type { z } from 'zod'
import type { JsonSchema } from '../models/model.ts'
import { compileSchema, toJsonSchema, type Checked } from './schema.ts'

type Schema = z.ZodType | JsonSchema

// Compiling a schema is slow and definitions outlive runs, so both forms are kept with the schema they came from.
const checks = new WeakMap<object, (value: unknown) => Checked>()
const jsonSchemas = new WeakMap<object, JsonSchema>()

/** As compileSchema, made once for each schema. */
export function checkOfSchema (schema: Schema): (value: unknown) => Checked {
  return remember(checks, schema, compileSchema)
}

/** As toJsonSchema, made once for each schema. */
export function jsonOfSchema (schema: Schema): JsonSchema {
  return remember(jsonSchemas, schema, toJsonSchema)
}

function remember<T> (cache: WeakMap<object, T>, schema: Schema, make: (schema: Schema) => T): T {
  let value = cache.get(schema)
  if (value === undefined) cache.set(schema, value = make(schema))
  return value
}
