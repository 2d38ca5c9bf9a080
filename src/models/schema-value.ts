import { compileSchema } from '../tools/schema.ts'
import type { JsonSchema } from './model.ts'
import { stringFor } from './schema-string.ts'

/** Where the values of a schema come from: what a user wrote, taken in order. */
export interface ValueSource {
  /** The next number in the words, if one is left. */
  nextNumber: () => number | undefined
  readonly numbersLeft: () => number
  /** Text for a field of this name. */
  textFor: (name: string) => string
  /** The things that the words list, for lists of texts. */
  readonly listed: readonly string[]
  /** The first of `choices` that the words name. */
  choose: (choices: readonly string[]) => string | undefined
  /** Whether the words say no. */
  readonly negative: boolean
  /** Fills a field that may be left out; `undefined` leaves it out. */
  optional: (name: string, fill: () => unknown) => unknown
}

interface Context { readonly root: JsonSchema, readonly source: ValueSource, readonly depth: number, readonly name: string }

type Bag = Readonly<Record<string, unknown>>

// Optional fields end here, so that a schema that contains itself has an end.
const maxDepth = 5

/** A value of the schema made of a user's words: plausible, not clever, and valid for the keywords that tools use. */
export function valueFor (schema: JsonSchema, source: ValueSource): unknown {
  return fill(schema, { root: schema, source, depth: 0, name: '' })
}

function fill (given: unknown, context: Context): unknown {
  if (!isBag(given)) return context.source.textFor(context.name)
  const schema = resolve(given, context.root)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return fromEnum(schema.enum, context.source)
  const branches = schema.oneOf ?? schema.anyOf
  if (Array.isArray(branches)) return fromBranches(schema, branches, context)
  switch (typeOf(schema)) {
    case 'object': return objectOf(schema, context)
    case 'array': return arrayOf(schema, context)
    case 'integer': return numberOf(schema, context.source, 1)
    case 'number': return numberOf(schema, context.source, undefined)
    case 'boolean': return !context.source.negative
    case 'null': return null
    default: return stringFor(schema, context.source.textFor(context.name))
  }
}

/** Follows a reference and folds `allOf` in, so that one object holds all keywords. */
function resolve (schema: Bag, root: JsonSchema): Bag {
  let merged = schema
  for (let steps = 0; typeof merged.$ref === 'string' && steps < 32; steps++) {
    const { $ref, ...rest } = merged
    merged = { ...lookUp(String($ref), root), ...rest }
  }
  if (!Array.isArray(merged.allOf)) return merged
  const { allOf, ...rest } = merged
  return (allOf as unknown[]).filter(isBag).map((part) => resolve(part, root)).reduce(merge, rest)
}

function lookUp (reference: string, root: JsonSchema): Bag {
  if (!reference.startsWith('#')) return {}
  let at: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    at = isBag(at) ? at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }
  return isBag(at) ? at : {}
}

function merge (a: Bag, b: Bag): Bag {
  const properties = isBag(a.properties) || isBag(b.properties) ? { properties: { ...toBag(a.properties), ...toBag(b.properties) } } : {}
  return { ...a, ...b, ...properties, required: [...names(a.required), ...names(b.required)] }
}

function fromEnum (values: readonly unknown[], source: ValueSource): unknown {
  const chosen = source.choose(values.filter((value) => typeof value === 'string'))
  return chosen ?? values[0]
}

/** The first branch whose value fits the whole schema: under `oneOf` a value may fit two, which is one too many. */
function fromBranches (schema: Bag, branches: readonly unknown[], context: Context): unknown {
  const { oneOf, anyOf, ...rest } = schema
  const options = branches.filter(isBag).sort((a, b) => Number(a.type === 'null') - Number(b.type === 'null'))
  const { $defs, definitions } = context.root
  const check = compileSchema({ ...schema, ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) })
  let first: { value: unknown } | undefined
  for (const option of options) {
    const value = fill(merge(rest, resolve(option, context.root)), context)
    if (fits(check, value)) return value
    first ??= { value }
  }
  return first?.value ?? null
}

function fits (check: ReturnType<typeof compileSchema>, value: unknown): boolean {
  return check(value).ok
}

function objectOf (schema: Bag, context: Context): Bag {
  const required = new Set(names(schema.required))
  const entries: Array<[string, unknown]> = []
  for (const [name, property] of Object.entries(toBag(schema.properties))) {
    const make = () => fill(property, { ...context, name, depth: context.depth + 1 })
    const value = required.has(name) ? make() : context.depth < maxDepth ? context.source.optional(name, make) : undefined
    if (value !== undefined) entries.push([name, value])
  }
  for (const name of required) {
    if (!entries.some(([known]) => known === name)) entries.push([name, fill(schema.additionalProperties, { ...context, name, depth: context.depth + 1 })])
  }
  return Object.fromEntries(entries)
}

function arrayOf (schema: Bag, context: Context): unknown[] {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const most = Math.min(numeric(schema.maxItems) ?? Infinity, context.depth > maxDepth ? 0 : Infinity)
  const kind = prefix.length === 0 ? kindOf(schema.items, context) : undefined
  const texts = kind === 'string' ? context.source.listed : []
  const numbers = kind === 'number' || kind === 'integer' ? context.source.numbersLeft() : 0
  const wanted = Math.max(numeric(schema.minItems) ?? 0, Math.min(most, Math.max(prefix.length, texts.length, numbers, 1)))
  const items: unknown[] = []
  for (let at = 0; at < wanted && (at < prefix.length || schema.items !== false); at++) {
    const source = texts[at] === undefined ? context.source : { ...context.source, textFor: () => texts[at]! } // as just seen
    const item = fill(prefix[at] ?? schema.items, { ...context, source, depth: context.depth + 1 })
    items.push(schema.uniqueItems === true ? unlike(item, items, schema.items) : item)
  }
  return items
}

/** What a list is of, where any value of that type will do. */
function kindOf (items: unknown, { root }: Context): unknown {
  if (!isBag(items)) return undefined
  const { type, enum: choices } = resolve(items, root)
  return choices === undefined ? type : undefined
}

/** Another value of the same kind where this one is in the list already. */
function unlike (item: unknown, items: readonly unknown[], schema: unknown): unknown {
  const has = (value: unknown) => items.some((known) => JSON.stringify(known) === JSON.stringify(value))
  if (!has(item)) return item
  const choices = isBag(schema) && Array.isArray(schema.enum) ? schema.enum : []
  const free = choices.find((choice) => !has(choice))
  if (free !== undefined) return free
  if (typeof item === 'number') return item + items.length
  return typeof item === 'string' ? `${item} ${items.length + 1}` : item
}

function numberOf (schema: Bag, source: ValueSource, step: number | undefined): number {
  const unit = numeric(schema.multipleOf) ?? step
  const low = numeric(schema.minimum) ?? above(numeric(schema.exclusiveMinimum), unit)
  const high = numeric(schema.maximum) ?? below(numeric(schema.exclusiveMaximum), unit)
  let value = source.nextNumber() ?? unit ?? 1
  if (low !== undefined && value < low) value = low
  if (high !== undefined && value > high) value = high
  if (unit === undefined) return value
  const rounded = Math.round(value / unit) * unit
  if (low !== undefined && rounded < low) return Math.ceil(low / unit) * unit
  return high !== undefined && rounded > high ? Math.floor(high / unit) * unit : rounded
}

function above (bound: number | undefined, unit = 0.5): number | undefined {
  return bound === undefined ? undefined : bound + unit
}

function below (bound: number | undefined, unit = 0.5): number | undefined {
  return bound === undefined ? undefined : bound - unit
}

function typeOf (schema: Bag): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  const named = types.find((type): type is string => typeof type === 'string' && type !== 'null') ?? types[0]
  if (typeof named === 'string') return named
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  return schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : 'string'
}

function numeric (value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function names (value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

function toBag (value: unknown): Bag {
  return isBag(value) ? value : {}
}

function isBag (value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
