import t, { type Test } from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { createPermissions } from '../../../src/auth/permissions.ts'
import type { Principal } from '../../../src/auth/principal.ts'
import { newId } from '../../../src/ids.ts'
import type { RuntimeAgentStore, RuntimeSettings } from '../../../src/runtime-agents/runtime-agent-store.ts'
import { openRuntimeAgents, type RuntimeAgentsOptions } from '../../../src/runtime-agents/runtime-agents.ts'
import { allowAll } from '../../../src/auth/shipped-permissions.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { agentOf, kitWith, registryWith } from '../../helpers/agents.ts'
import { until } from '../../helpers/app.ts'
import { openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

const ada: Principal = { tenantId: 'north', userId: 'ada', roles: [] }
const eve: Principal = { tenantId: 'south', userId: 'eve', roles: [] }
const settings: RuntimeSettings = { base: 'base', name: 'N', description: null, instructions: null, model: null, tools: [], suggestions: null, active: true }

t.test('agents are found without waiting, and in lists of their own tenant only', async (t) => {
  const { open, store } = await world(t)
  const { registry, service } = await open()
  const { id } = await service.create(ada, settings)
  t.match(registry.find(id), { id, tenantId: 'north', name: 'N' })
  t.strictSame([registry.list('north'), registry.list('south'), registry.list()].map((agents) => agents.map(({ key }) => key)), [['base', id], ['base'], ['base']])
  t.strictSame(registry.all().map(({ key }) => key), ['base'])
  t.equal(registry.find('base')?.key, 'base')
  for (const name of ['', '__proto__', 'toString', 'N']) t.equal(registry.find(name), undefined, name)
  t.equal(await store.revision(), 1)
})

t.test('what another process changes is noticed, and what has not changed stays as it is', async (t) => {
  const { open, store } = await world(t)
  const [here, there] = [await open({ refreshEveryMs: 20 }), await open({ refreshEveryMs: 20 })]
  const first = await here.service.create(ada, settings)
  await until('the other has it', () => there.registry.find(first.id) !== undefined)
  const seen = there.registry.find(first.id)
  const second = await here.service.create(eve, settings)
  await until('the other has the second', () => there.registry.find(second.id) !== undefined)
  t.equal(there.registry.find(first.id), seen)
  await here.service.update(ada, first.id, { name: 'Changed' })
  await until('the other has the change', () => there.registry.find(first.id)?.name === 'Changed')
  await there.service.update(ada, first.id, { active: false })
  t.equal(there.registry.find(first.id), undefined, 'at once where it is changed')
  await until('it is off here', () => here.registry.find(first.id) === undefined)
  await here.service.remove(eve, second.id)
  await until('the other has it no more', () => there.registry.list('south').length === 1)
  t.equal(await store.revision(), 5)
})

t.test('who manages agents always sees what there is, whichever process changed it', async (t) => {
  const { open } = await world(t)
  const [here, there] = [await open({ refreshEveryMs: 60_000 }), await open({ refreshEveryMs: 60_000 })]
  const { id } = await here.service.create(ada, settings)
  t.match(await there.service.get(ada, id), { name: 'N' })
  const changes = [{ name: 'Changed' }, { description: 'Described' }, { instructions: 'Instructed' }]
  await Promise.all(changes.map((change, index) => (index % 2 === 0 ? here : there).service.update(ada, id, change)))
  t.match(await there.service.list(ada), [{ name: 'Changed', description: 'Described', instructions: 'Instructed' }], 'changes of both are kept')
  await here.service.remove(ada, id)
  await t.rejects(there.service.update(ada, id, { name: 'Late' }), { code: 'not_found' })
  t.strictSame(await there.service.list(ada), [])
})

t.test('a database that is away leaves what is known as it is, and is logged once', async (t) => {
  const { open, store } = await world(t)
  const logged: string[] = []
  let isAway = false
  let asked = 0
  const flaky: RuntimeAgentStore = {
    ...store,
    revision: async () => {
      asked++
      if (isAway) throw new Error('away')
      return await store.revision()
    }
  }
  const { registry, service } = await open({ store: flaky, refreshEveryMs: 5, log: { warn: (_fields, message) => { logged.push(message) } } })
  const { id } = await service.create(ada, settings)
  isAway = true
  const before = asked
  await until('it is asked several times', () => asked > before + 3)
  t.match(registry.find(id), { name: 'N' })
  t.match(logged, [/could not be read/])
  t.equal(logged.length, 1)
  await t.rejects(service.get(ada, id), { message: 'away' })
  isAway = false
  t.match(await service.get(ada, id), { name: 'N' })
})

t.test('an id that is a name of the configuration is refused', async (t) => {
  const { open } = await world(t)
  const { service } = await open({ newId: () => 'base' })
  await t.rejects(service.create(ada, settings), { code: 'conflict' })
  t.strictSame(await service.list(ada), [])
})

t.test('without what they are made of there are none, and the database is not asked', async (t) => {
  const asked = new Proxy({}, { get: () => { throw new Error('asked') } }) as RuntimeAgentStore
  const { open } = await world(t)
  const { registry, service, bases } = await open({ kit: undefined, store: asked })
  t.strictSame([registry.list('north').length, bases], [1, []])
  await t.rejects(service.list(ada), { code: 'not_found', message: /runtimeAgents/ })
})

t.test('a thousand agents cost a start little', async (t) => {
  const { open, store } = await world(t, { tools: Array.from({ length: 5 }, (_, index) => defineTool({ name: `tool-${index}`, input: { type: 'object', properties: { day: { type: 'string', format: 'date' } } } })) })
  for (let hundred = 0; hundred < 10; hundred++) {
    await Promise.all(Array.from({ length: 100 }, () => store.insert(hundred % 2 === 0 ? ada : eve, newId(), { ...settings, instructions: 'Be brief. '.repeat(100) })))
  }
  await (await open()).close()
  const begun = process.cpuUsage()
  const { registry, service } = await open()
  const { user, system } = process.cpuUsage(begun)
  t.comment(`${Math.round((user + system) / 1_000)} ms`)
  t.ok(user + system < 1_500_000, `${user + system} µs of processor time`)
  t.equal(registry.list('north').length, 501)
  t.equal((await service.list(eve)).length, 500)
})

async function world (t: Test, base: Partial<AgentDefinition> = {}) {
  const { runtimeAgents: store } = await openTestDatabase(t, await testDatabaseUrl(t))
  const definitions = [{ key: 'base', ...base }]
  const options: RuntimeAgentsOptions = {
    kit: kitWith(definitions, { model: 'offline' }), configured: registryWith(definitions.map((definition) => agentOf(definition, 'offline'))),
    permissions: createPermissions({ lists: { agent: [allowAll] } }), store, newId, log: { warn: () => {} }
  }
  return {
    store,
    open: async (changed: Partial<RuntimeAgentsOptions> = {}) => {
      const opened = await openRuntimeAgents({ ...options, ...changed })
      t.teardown(() => opened.close())
      return opened
    }
  }
}
