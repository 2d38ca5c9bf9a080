import { compileSchema, isZod, toJsonSchema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'

/** What keeps a value from being a tool that a model can be offered. */
export function toolProblems (value: unknown): string[] {
  if (typeof value !== 'object' || value === null || (value as Partial<Tool>).kind !== 'tool') return ['expected a tool made by defineTool']
  const { name, description, input, execute, timeoutMs } = value as Partial<Tool>
  const problems: string[] = []
  if (typeof name !== 'string' || name.trim() === '') problems.push('a tool needs a name')
  if (description !== undefined && typeof description !== 'string') problems.push('description: expected text')
  if (execute !== undefined && typeof execute !== 'function') problems.push('execute: expected a function')
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) problems.push('timeoutMs: expected a number greater than 0')
  const problem = input === undefined ? undefined : inputProblem(input)
  if (problem !== undefined) problems.push(`input: ${problem}`)
  return problems
}

/** What keeps a value from being a schema: zod's or JSON Schema. */
export function schemaProblem (schema: unknown): string | undefined {
  if (!isZod(schema) && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) return 'expected a zod schema or a JSON schema'
  const compiled = compiledSchemas.get(schema) ?? { problem: compileProblem(schema) }
  compiledSchemas.set(schema, compiled)
  return compiled.problem
}

// Kept, because compiling costs more than all else that is checked of an agent, and many runtime agents have the schemas of one base.
const compiledSchemas = new WeakMap<object, { readonly problem: string | undefined }>()

function compileProblem (schema: object): string | undefined {
  try {
    // True: either a zod schema or an object, as just seen.
    compileSchema(schema as Tool['input'])
    toJsonSchema(schema as Tool['input'])
    return undefined
  } catch (error) {
    return `is not a usable schema: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** What keeps a value from being the schema of a call's input. */
export function inputProblem (input: unknown): string | undefined {
  const problem = schemaProblem(input)
  if (problem !== undefined) return problem
  const { type = 'object' } = toJsonSchema(input as Tool['input']) // a schema, as just seen
  // Providers take the arguments of a call as one JSON object.
  return type === 'object' ? undefined : `expected the schema of an object, got ${JSON.stringify(type)}`
}
