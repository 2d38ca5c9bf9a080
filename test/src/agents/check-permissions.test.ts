import t, { type Test } from 'tap'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationFaults, faultLine } from '../../../src/agents/faults.ts'
import { loadRegistry, type LoadedRegistry } from '../../../src/agents/load-registry.ts'
import { anonymous, type Principal } from '../../../src/auth/principal.ts'
import { loadConfig } from '../../../src/config.ts'

const ada: Principal = { tenantId: 'north', userId: 'ada', roles: ['editor'] }
const bob: Principal = { tenantId: 'south', userId: 'bob', roles: [] }
const of = (ownerId: string, tenantId: string) => ({ kind: 'thread', id: 'thread-1', ownerId, tenantId, agentId: undefined, metadata: {} }) as const

t.test('a file without code says permissions by their names', async (t) => {
  const { permissions: { may, scope }, find } = await load(t, 'parley.config.yaml', `
agents:
  - key: open
  - key: closed
    permissions: [denyAll]
  - key: northern
    permissions: [isAuthenticated, { inGroup: north }]
permissions:
  agent: [isAuthenticated, { hasRole: [editor, admin], operations: [chat, run] }]
  thread:
    - anyOf: [isOwner, { hasRole: admin }]
    - { hasRole: [editor], operations: [manage_thread] }
  integration: [allowAll]
`)
  const agent = (key: string) => find(key) ?? t.fail(key)
  const may3 = (principal: Principal, key: string) => (['view_agent', 'chat'] as const).map((operation) => may(principal, operation, agent(key) as NonNullable<ReturnType<typeof find>>))
  t.strictSame([may3(ada, 'open'), may3(bob, 'open'), may3(anonymous, 'open')], [[true, true], [true, false], [false, false]])
  t.strictSame([may3(ada, 'closed'), may3(ada, 'northern'), may3(bob, 'northern')], [[false, false], [true, true], [false, false]], 'its own list is asked in place of it')
  t.strictSame([may(ada, 'manage_thread', of('ada', 'north')), may(bob, 'manage_thread', of('bob', 'south')), may(bob, 'view_thread', of('bob', 'south'))], [true, false, true])
  t.strictSame([scope('thread', { ...ada, roles: ['admin'] }, 'view_thread'), scope('thread', ada, 'view_thread'), scope('thread', bob, 'manage_thread')], ['all', 'own', 'none'])
  t.strictSame(scope('memory', ada, 'view_memory'), 'own', 'a domain that is not named keeps its default')
})

t.test('code gives functions, and what is imported', async (t) => {
  const { permissions: { may, scope }, find } = await load(t, 'parley.config.ts', `
    import { defineAgent, defineConfig, definePermission, hasRole, isOwner } from 'parley'
    const base = defineAgent({ key: 'base', abstract: true, permissions: [({ userId }, operation) => operation === 'view_agent' || userId === 'ada'] })
    export default defineConfig({
      agents: [{ ...base, key: 'mine', abstract: false }],
      permissions: { thread: [definePermission({ filter: ({ roles }) => roles.includes('editor') ? 'all' : 'own' })], integration: [hasRole('editor')] }
    })`)
  const mine = find('mine')
  t.strictSame([may(ada, 'chat', mine), may(bob, 'chat', mine), may(bob, 'view_agent', mine)], [true, false, true])
  t.strictSame([scope('thread', ada, 'rate'), scope('thread', bob, 'rate')], ['all', 'own'])
  t.strictSame([may(ada, 'use_integration', { kind: 'integration', name: 'docs' }), may(bob, 'use_integration', { kind: 'integration', name: 'docs' })], [true, false])
})

t.test('every mistake is named, with its place', async (t) => {
  t.strictSame(await faultsOf(t, 'parley.config.yaml', `
agents:
  - { key: a, permissions: [isOwner, hasRole, is_owner] }
  - { key: b, permissions: [] }
permissions:
  threads: [isOwner]
  agent: [isOwner]
  thread: isOwner
  memory: [{ hasRole: [] }, { hasRole: x, inGroup: y }, { hasRole: x, operations: [view_threat] }, { hasRole: x, operations: [] }, { anyOf: [isOwner, nobody] }, { anyOf: [] }, { isOwner: true }, 7, { inGroups: x }]
  integration: []
`), [
    'permissions: unknown domain "threads". Did you mean "thread"?',
    'permissions.agent[0]: agents have no owner, so isOwner would close them to everybody',
    'permissions.thread: expected a list of permissions',
    'permissions.memory[0]: hasRole: expected one name or a list of names',
    'permissions.memory[1]: expected one of hasRole, inGroup, anyOf, and nothing else but "operations"',
    'permissions.memory[2]: operations: unknown operation "view_threat". Did you mean "view_thread"?',
    'permissions.memory[3]: operations: expected a list of operations',
    'permissions.memory[4]: anyOf[1]: unknown permission "nobody".',
    'permissions.memory[5]: anyOf: expected at least one permission',
    'permissions.memory[6]: expected the plain name, isOwner',
    'permissions.memory[7]: expected a permission: its name, an object such as { hasRole: [admin] }, or a function',
    'permissions.memory[8]: unknown permission "inGroups". Did you mean "inGroup"?',
    'permissions.integration: expected at least one permission; allowAll says that everybody may',
    'agent "a": permissions[1]: expected the names it is for, as in { hasRole: [staff] }',
    'agent "a": permissions[2]: unknown permission "is_owner". Did you mean "isOwner"?',
    'agent "b": permissions: expected at least one permission; allowAll says that everybody may'
  ])
  t.strictSame(await faultsOf(t, 'parley.config.ts', `
    import { allowAll, anyOf, hasRole, isOwner } from 'parley'
    export default {
      agents: [{ key: 'a', permissions: [isOwner] }, { key: 'b', permissions: [hasRole, async () => true, anyOf] }],
      permissions: { thread: [isOwner, () => true, anyOf(isOwner, () => true)], memory: [allowAll], agent: [() => true] }
    }`), [
    'permissions.thread[1]: a function alone cannot say what a list shows; make it with definePermission({ filter, check })',
    'permissions.thread[2]: a function alone cannot say what a list shows; make it with definePermission({ filter, check })',
    'agent "a": permissions[0]: agents have no owner, so isOwner would close them to everybody',
    'agent "b": permissions[0]: expected hasRole(...) and not the function that makes it',
    'agent "b": permissions[1]: expected a function that answers at once: a promise would never be waited for',
    'agent "b": permissions[2]: expected anyOf(...) and not the function that makes it'
  ])
})

async function load (t: Test, name: string, text: string): Promise<LoadedRegistry> {
  const cwd = t.testdir({})
  await writeFile(join(cwd, name), text)
  return await loadRegistry({ config: loadConfig({}), cwd, env: {} })
}

/** Without the name of the file. */
async function faultsOf (t: Test, name: string, text: string): Promise<readonly string[]> {
  try {
    await load(t, name, text)
  } catch (error) {
    if (error instanceof ConfigurationFaults) return error.faults.map((fault) => faultLine(fault).replace(`${name}: `, ''))
    throw error
  }
  return []
}
