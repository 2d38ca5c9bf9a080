import t from 'tap'
import { domainOf, type Operation } from '../../../src/auth/operation.ts'
import { anyOf, definePermission, forOperations, type Permission, type PermissionObject } from '../../../src/auth/permission.ts'
import { createPermissions, type PermissionLists } from '../../../src/auth/permissions.ts'
import { anonymous, type Principal } from '../../../src/auth/principal.ts'
import { allowAll, denyAll, hasRole, inGroup, isAuthenticated, isOwner } from '../../../src/auth/shipped-permissions.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'

const ada: Principal = { tenantId: 'north', userId: 'ada', roles: ['staff'] }
const bob: Principal = { tenantId: 'north', userId: 'bob', roles: [] }
const thread = { kind: 'thread', id: 'thread-1', tenantId: 'north', ownerId: 'ada', agentId: 'agent-1', metadata: {} } as const
const agent = { kind: 'agent', id: 'agent-1', key: 'one', name: 'One', meta: {} } as const
const integration = { kind: 'integration', name: 'docs' } as const
const operations = Object.keys(domainOf) as Operation[]

t.test('what is not said otherwise is for owners, and agents and integrations for everybody', async (t) => {
  const { may, scope, isExact } = createPermissions()
  for (const operation of operations.filter((operation) => domainOf[operation] === 'thread')) {
    t.strictSame([may(ada, operation, thread), may(bob, operation, thread), scope('thread', bob, operation)], [true, false, 'own'], operation)
  }
  t.strictSame((['view_agent', 'chat', 'run', 'manage_agent'] as const).map((operation) => may(anonymous, operation, agent)), [true, true, true, false])
  t.ok(may(anonymous, 'use_integration', integration))
  const memory = { kind: 'memory', id: 'm', tenantId: 'north', ownerId: 'ada' } as const
  t.strictSame([may(ada, 'manage_memory', memory), may(bob, 'view_memory', memory)], [true, false])
  t.ok(isExact('thread') && isExact('memory'), 'nothing has to be looked at one by one')
})

t.test('the shipped ones', async (t) => {
  const elsewhere = { ...ada, tenantId: 'south' }
  const table: ReadonlyArray<[string, Permission, ReadonlyArray<readonly [Principal, boolean]>]> = [
    ['allowAll', allowAll, [[ada, true], [bob, true], [anonymous, true]]],
    ['denyAll', denyAll, [[ada, false]]],
    ['isAuthenticated', isAuthenticated, [[ada, true], [anonymous, false]]],
    ['isOwner', isOwner, [[ada, true], [bob, false]]],
    ['hasRole', hasRole('admin', 'staff'), [[ada, true], [bob, false], [elsewhere, true]]],
    ['inGroup', inGroup('north', 'west'), [[ada, true], [bob, true], [elsewhere, false]]]
  ]
  for (const [name, permission, expected] of table) {
    for (const [principal, wanted] of expected) t.equal(permission(principal, 'view_thread', thread), wanted, `${name}: ${principal.userId} of ${principal.tenantId}`)
  }
  t.equal(isOwner(ada, 'view_agent', agent), false, 'an agent is nobody\'s')
  // Without a name nobody would pass; the types say so, and files without types are told.
  t.throws(() => (hasRole as () => Permission)(), /hasRole: expected one name or several/)
  t.throws(() => (inGroup as unknown as (names: string[]) => Permission)(['north']), /inGroup: expected one name or several/)
})

t.test('all of a list must pass', async (t) => {
  const { may, scope } = permissionsOf({ thread: [isOwner, hasRole('staff')] })
  t.strictSame([may(ada, 'rate', thread), may({ ...ada, roles: [] }, 'rate', thread), may({ ...bob, roles: ['staff'] }, 'rate', thread)], [true, false, false])
  t.strictSame([scope('thread', ada, 'rate'), scope('thread', bob, 'rate')], ['own', 'none'])
})

t.test('anyOf is passed where one of them is, forOperations where it does not ask', async (t) => {
  const ownOrStaff = permissionsOf({ thread: [anyOf(isOwner, hasRole('staff')), forOperations(['manage_thread', 'rate'], isOwner)] })
  const staff = { ...bob, roles: ['staff'] }
  t.strictSame([ownOrStaff.may(staff, 'view_thread', thread), ownOrStaff.may(staff, 'rate', thread), ownOrStaff.may(bob, 'view_thread', thread)], [true, false, false])
  t.strictSame([ownOrStaff.scope('thread', staff, 'view_thread'), ownOrStaff.scope('thread', staff, 'rate'), ownOrStaff.scope('thread', bob, 'view_thread')], ['all', 'own', 'own'])
  t.ok(ownOrStaff.isExact('thread'))
  const plain = () => true
  t.strictSame([anyOf(isOwner, plain).filter, forOperations(['rate'], plain).filter], [undefined, undefined], 'nothing is known of what a function opens')
})

t.test('a check narrows its filter down and never widens it', async (t) => {
  const permission = definePermission({ filter: () => 'own', check: (_principal, operation, object) => operation !== 'rate' || object === undefined })
  const { may, isExact } = permissionsOf({ thread: [permission] })
  t.strictSame([may(ada, 'rate', thread), may(ada, 'view_thread', thread), may(bob, 'view_thread', thread), may(ada, 'rate')], [false, true, false, true])
  t.notOk(isExact('thread'))
  t.throws(() => (definePermission as (definition: object) => Permission)({ check: () => true }), /definePermission: expected a filter/)
})

t.test('an agent\'s own list is asked in the place of the domain\'s', async (t) => {
  const { may } = permissionsOf({ agent: [denyAll] })
  t.strictSame([may(ada, 'chat', agent), may(ada, 'chat', { ...agent, permissions: [hasRole('staff')] }), may(bob, 'chat', { ...agent, permissions: [hasRole('staff')] })], [false, true, false])
})

t.test('no permission leads into another tenant', async (t) => {
  const { may } = permissionsOf({ thread: [allowAll] })
  t.strictSame([may(bob, 'view_thread', thread), may({ ...ada, tenantId: 'south' }, 'view_thread', thread)], [true, false])
})

t.test('a permission that throws, or answers neither true nor false, denies and is logged', async (t) => {
  const failing: Permission = (_principal, _operation, object) => { throw new Error(`no ${String(object?.kind)}`) }
  const late = (async () => { throw new Error('never waited for') }) as unknown as Permission
  const vague = (() => 'yes') as unknown as Permission
  const cases = [[failing, /failed/], [late, /neither true nor false/], [vague, /neither true nor false/], [definePermission({ filter: () => { throw new Error('no') } }), /failed/]] as const
  for (const [permission, line] of cases) {
    const log = recordingLog()
    const { may } = createPermissions({ lists: { agent: [permission] }, log })
    t.equal(may(ada, 'chat', agent), false)
    t.match(log.lines, [{ level: 'error', message: line, fields: { operation: 'chat' } }])
  }
  const log = recordingLog()
  const noFilter = createPermissions({ lists: { thread: [definePermission({ filter: () => { throw new Error('no') } })], memory: [definePermission({ filter: () => 'every' as 'all' })] }, log })
  t.strictSame([noFilter.scope('thread', ada, 'list_threads'), noFilter.scope('memory', ada, 'view_memory'), log.lines.length], ['none', 'none', 1])
})

function permissionsOf (lists: Partial<PermissionLists>) {
  const { may, scope, isExact } = createPermissions({ lists })
  return { scope, isExact, may: (principal: Principal, operation: Operation, object?: PermissionObject) => may(principal, operation, object) }
}
