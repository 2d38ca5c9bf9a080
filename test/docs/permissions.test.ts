import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadRegistry, type LoadedRegistry } from '../../src/agents/load-registry.ts'
import { domainOf, type Operation } from '../../src/auth/operation.ts'
import { anonymous, type Principal } from '../../src/auth/principal.ts'
import { loadConfig } from '../../src/config.ts'
import * as parley from '../../src/parley.ts'

const page = await readFile('docs/permissions.md', 'utf8')
const [first, own] = Array.from(page.matchAll(/```ts\n(.*?)```/gs), ([, code = '']) => code)
const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1]
const ada: Principal = { tenantId: 'north', userId: 'ada', roles: [] }
const having = (...roles: string[]): Principal => ({ tenantId: 'north', userId: 'sue', roles })
const thread = (metadata = {}) => ({ kind: 'thread', id: 'thread-1', tenantId: 'north', ownerId: 'ada', agentId: undefined, metadata }) as const

t.test('docs/permissions.md names every operation below its domain', async (t) => {
  const table = /## Operations\n(.*?)\n## /s.exec(page)?.[1] ?? ''
  const rows: Record<string, string> = {}
  let domain = ''
  for (const [, named, operation = ''] of table.matchAll(/^\| (?:`(\w+)`)? ?\| `(\w+)` \|/gm)) {
    domain = named ?? domain
    rows[operation] = domain
  }
  t.strictSame(rows, domainOf)
})

t.test('docs/permissions.md names every permission that there is, by what configurations import', async (t) => {
  const table = /## What there is\n(.*?)\n\n[A-Z]/s.exec(page)?.[1] ?? ''
  const named = Array.from(table.matchAll(/^\| `(\w+)/gm), ([, name = '']) => name)
  t.strictSame(named, ['allowAll', 'denyAll', 'isAuthenticated', 'isOwner', 'hasRole', 'inGroup', 'anyOf', 'forOperations'])
  for (const name of named) t.type((parley as Record<string, unknown>)[name], 'function', name)
})

for (const [kind, name, text] of [['code', 'parley.config.ts', first], ['no code', 'parley.config.yaml', yaml]] as const) {
  t.test(`what docs/permissions.md says of its example with ${kind} is so`, async (t) => {
    const { find, permissions: { may, scope } } = await load(t, name, text)
    const agent = (key: string) => find(key) ?? t.fail(key) as never
    t.strictSame([may(ada, 'view_agent', agent('payroll')), may(having('finance'), 'chat', agent('payroll'))], [false, true])
    t.strictSame([may(ada, 'chat', agent('help')), may(anonymous, 'chat', agent('help')), may(ada, 'manage_agent', agent('help')), may(having('admin'), 'manage_agent', agent('help'))], [true, false, false, true])
    const asked = (principal: Principal) => (['list_threads', 'view_thread', 'chat', 'manage_thread'] as const).map((operation) => may(principal, operation, thread()))
    t.strictSame([asked(ada), asked(having('support')), asked(having())], [[true, true, true, true], [true, true, true, false], [false, false, false, false]])
    t.strictSame([scope('thread', having('support'), 'list_threads'), scope('thread', ada, 'list_threads')], ['all', 'own'])
  })
}

t.test('what docs/permissions.md says of a permission of one\'s own is so', async (t) => {
  const { permissions: { may, scope, isExact } } = await load(t, 'parley.config.ts', own)
  const asked = (principal: Principal, operation: Operation, metadata = {}) => may(principal, operation, thread(metadata))
  t.strictSame([asked(having('auditor'), 'view_thread'), asked(having('auditor'), 'manage_thread'), asked(having(), 'view_thread')], [true, false, false])
  t.strictSame([asked(ada, 'manage_thread'), asked(ada, 'manage_thread', { locked: true }), asked(ada, 'view_thread', { locked: true })], [true, false, true])
  t.strictSame([scope('thread', having('auditor'), 'list_threads'), isExact('thread')], ['all', false])
})

t.test('the lists that docs/permissions.md warns of open what it says', async (t) => {
  const { find, permissions: { may } } = await load(t, 'parley.config.yaml', 'agents: [{ key: help }]\npermissions: { agent: [isAuthenticated], thread: [isAuthenticated] }\n')
  t.strictSame([may(ada, 'manage_agent', find('help')), may(having(), 'view_thread', thread()), may(having(), 'manage_thread', thread())], [true, true, true])
})

async function load (t: Test, name: string, text: string | undefined): Promise<LoadedRegistry> {
  const cwd = t.testdir({})
  await mkdir(cwd, { recursive: true })
  await writeFile(join(cwd, name), text ?? '')
  return await loadRegistry({ config: loadConfig({}), cwd, env: {} })
}
