import { z } from 'zod'
import { didYouMean } from '../agents/suggest.ts'
import { domainOf, isOperation, type Operation } from './operation.ts'
import { anyOf, forOperations, type Permission } from './permission.ts'
import { allowAll, denyAll, hasRole, inGroup, isAuthenticated, isOwner } from './shipped-permissions.ts'

const named: Readonly<Record<string, Permission>> = { allowAll, denyAll, isAuthenticated, isOwner }
const made = { hasRole, inGroup } as const
const names = [...Object.keys(named), ...Object.keys(made), 'anyOf']

type Names = string | readonly string[]

/** A permission, or how a file without code says it. */
export type PermissionEntry = Permission | 'allowAll' | 'denyAll' | 'isAuthenticated' | 'isOwner' | PermissionForm
export type PermissionForm = { readonly operations?: readonly Operation[] } & ({ readonly hasRole: Names } | { readonly inGroup: Names } | { readonly anyOf: readonly PermissionEntry[] })

/** All of a list must pass, so an empty one would let everybody do everything. */
export const permissionListSchema = z.array(z.custom<PermissionEntry>().transform((entry, context): Permission => {
  const read = readEntry(entry)
  if (typeof read !== 'string') return read
  context.addIssue({ code: 'custom', message: read })
  return denyAll
}), 'expected a list of permissions').min(1, 'expected at least one permission; allowAll says that everybody may')

/** The permission, or what is wrong with the entry. */
function readEntry (entry: unknown): Permission | string {
  if (typeof entry === 'function') return readFunction(entry)
  if (typeof entry === 'string') return readName(entry)
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'expected a permission: its name, an object such as { hasRole: [admin] }, or a function'
  const { operations, ...form } = entry as { readonly operations?: unknown } & Readonly<Record<string, unknown>>
  const permission = readForm(form)
  return operations === undefined || typeof permission === 'string' ? permission : limited(permission, operations)
}

function readFunction (entry: object): Permission | string {
  const maker = Object.entries({ ...made, anyOf, forOperations }).find(([, make]) => make === entry)
  if (maker !== undefined) return `expected ${maker[0]}(...) and not the function that makes it`
  if (Object.prototype.toString.call(entry) === '[object AsyncFunction]') return 'expected a function that answers at once: a promise would never be waited for'
  return entry as Permission // what it answers is looked at each time
}

function readName (name: string): Permission | string {
  const permission = Object.hasOwn(named, name) ? named[name] : undefined
  if (permission !== undefined) return permission
  return Object.hasOwn(made, name) ? `expected the names it is for, as in { ${name}: [staff] }` : `unknown permission "${name}".${didYouMean(name, names)}`
}

function readForm (form: Readonly<Record<string, unknown>>): Permission | string {
  const [[name, value] = ['', undefined], ...others] = Object.entries(form)
  if (others.length > 0 || name === '') return `expected one of ${names.slice(-3).join(', ')}, and nothing else but "operations"`
  if (name === 'hasRole' || name === 'inGroup') return readMade(name, value)
  if (name === 'anyOf') return readAny(value)
  return Object.hasOwn(named, name) ? `expected the plain name, ${name}` : `unknown permission "${name}".${didYouMean(name, names)}`
}

function readMade (name: keyof typeof made, value: unknown): Permission | string {
  const [first, ...rest] = [value].flat()
  const given = [first, ...rest].filter((item): item is string => typeof item === 'string' && item !== '')
  return given.length === rest.length + 1 ? made[name](...given as [string, ...string[]]) : `${name}: expected one name or a list of names` // as long as the list before, which is not empty
}

function readAny (value: unknown): Permission | string {
  if (!Array.isArray(value)) return 'anyOf: expected a list of permissions'
  const [first, ...rest] = value.map(readEntry)
  const wrong = [first, ...rest].findIndex((read) => typeof read !== 'function')
  if (first === undefined || wrong !== -1) return `anyOf${first === undefined ? '' : `[${wrong}]`}: ${String([first, ...rest][wrong] ?? 'expected at least one permission')}`
  return anyOf(...[first, ...rest] as [Permission, ...Permission[]]) // none of them is a problem
}

function limited (permission: Permission, operations: unknown): Permission | string {
  if (!Array.isArray(operations) || operations.length === 0) return 'operations: expected a list of operations'
  const wrong = operations.find((operation) => !isOperation(operation))
  if (wrong !== undefined) return `operations: unknown operation "${String(wrong)}".${didYouMean(String(wrong), Object.keys(domainOf))}`
  return forOperations(operations, permission)
}
