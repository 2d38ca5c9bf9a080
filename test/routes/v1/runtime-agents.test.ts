import t from 'tap'
import { allowAll } from '../../../src/auth/shipped-permissions.ts'
import type { Memory } from '../../../src/memories/memory.ts'
import { kitWith } from '../../helpers/agents.ts'
import { chunksOf, post, startApp, textIn, until, userMessage } from '../../helpers/app.ts'
import { skipWithoutPostgresql, testDatabaseUrl } from '../../helpers/databases.ts'
import { loggedService } from '../../helpers/logged.ts'
import { offering, startWithRuntimeAgents, type Answer } from '../../helpers/runtime-agents.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

const heard = ({ text }: Answer) => textIn({ chunks: chunksOf(text) })

t.test('an agent is made, talked to with its tools, changed from the next answer on, switched off and removed', async (t) => {
  const model = scriptedModel([[...toolCall('c1', 'clock'), ...toolCall('c2', 'own')], ['It is noon.'], ['Noon, it rhymes with moon.']])
  const { ask } = await startWithRuntimeAgents(t, { model })
  const made = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'old.helper', name: ' Timekeeper ', instructions: 'Tell the time.', tools: ['clock'] })
  t.match(made, { status: 201, body: { id: /^[0-9a-f-]{14}7[0-9a-f-]{21}$/, base: 'helper', name: 'Timekeeper', description: null, model: null, tools: ['clock'], suggestions: null, active: true, instructions: 'Tell the time.', createdBy: 'ada', problem: null } })
  const { id } = made.body
  const path = `/v1/runtime-agents/${id}`
  t.strictSame((await ask('ada+builder', 'GET', path)).body, made.body)

  t.match((await ask('bob', 'GET', '/v1/agents')).body.items, [{ key: 'helper' }, { key: 'chooser' }, { id, key: id, name: 'Timekeeper', description: 'Helps', model: 'test:scripted' }])
  t.match((await ask('bob', 'GET', `/v1/agents/${id}/tools`)).body, { tools: [{ name: 'own' }, { name: 'clock' }], children: [{ name: 'member' }] }, 'with the crew of its base')
  t.match((await ask('bob', 'GET', '/v1/models')).body.data.map(({ id }: { id: string }) => id), ['helper', 'chooser', id])
  t.equal((await ask('bob', 'GET', `/v1/models/${id}`)).status, 200)

  t.equal(heard(await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'What time is it?', agentId: id })), 'It is noon.')
  t.match(model.requests[0], { instructions: /^Tell the time\./, tools: [{ name: 'own' }, { name: 'clock' }, { name: 'member' }] })
  t.match((await ask('bob', 'GET', '/v1/threads/bobs-thread/messages')).body.items[1].parts.filter(({ type }: { type: string }) => type.startsWith('tool-')), [{ output: 'noon' }, { output: 'from the base' }])

  const changed = await ask('ada+builder', 'PATCH', path, { instructions: 'Answer in verse.', tools: [], description: 'In verse' })
  t.match(changed, { status: 200, body: { id, name: 'Timekeeper', instructions: 'Answer in verse.', description: 'In verse', tools: [] } })
  t.equal(heard(await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Again' })), 'Noon, it rhymes with moon.')
  t.match(model.requests[2], { instructions: /^Answer in verse\./ })
  t.strictSame(model.requests[2]?.tools?.map(({ name }) => name), ['own', 'member'])

  t.match(await ask('ada+builder', 'PATCH', path, { active: false }), { status: 200, body: { active: false, problem: null } })
  t.equal((await ask('bob', 'GET', `/v1/agents/${id}`)).status, 404)
  t.equal((await ask('bob', 'POST', '/v1/threads/another-thread/messages', { text: 'Hi', agentId: id })).status, 404)
  t.match(await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' }), { status: 409, body: { code: 'conflict', message: /does not exist any more/ } })
  t.equal((await ask('bob', 'GET', '/v1/threads/bobs-thread/messages')).body.items.length, 4, 'its threads can be read')
  t.match(await ask('ada+builder', 'PATCH', path, { active: true }), { status: 200, body: { active: true } })
  t.equal((await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' })).status, 200)

  t.equal((await ask('ada+builder', 'DELETE', path)).status, 204)
  for (const method of ['GET', 'DELETE']) t.equal((await ask('ada+builder', method, path)).status, 404, method)
  t.equal((await ask('ada+builder', 'PATCH', path, { active: true })).status, 404)
  t.equal((await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' })).status, 409)
  t.equal((await ask('bob', 'GET', '/v1/threads/bobs-thread/messages')).body.items.length, 6)
  t.equal((await ask('bob', 'PATCH', '/v1/threads/bobs-thread', { agentId: 'helper' })).status, 200, 'and another agent goes on with them')
})

t.test('a runtime agent is talked to on every way by its id', async (t) => {
  const { ask } = await startWithRuntimeAgents(t, { model: scriptedModel([['Hello.']]) })
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'One', model: 'offline' })
  const ways = [
    ['/v1/threads/new-thread/messages', { text: 'Hi', agentId: id }],
    ['/api/chat', { id: 'used-thread', agentId: id, messages: [userMessage('Hi')] }],
    ['/api/chat', { agentId: id, messages: [userMessage('Hi')] }],
    [`/v1/agents/${id}/run`, { input: 'Hi' }],
    [`/v1/agents/${id}/run`, { input: 'Hi', threadId: 'run-thread' }],
    ['/v1/chat/completions', { model: id, messages: [{ role: 'user', content: 'Hi' }] }],
    [`/v1/agents/${id}/ag-ui`, { threadId: 'ag-ui-thread', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'Hi' }] }]
  ] as const
  for (const [path, body] of ways) t.match(await ask('bob', 'POST', path, body), { status: 200, text: 'Hello.' }, path)
  t.equal((await ask('bob', 'POST', '/v1/threads', { agentId: id })).status, 201)
  t.equal((await ask('bob', 'GET', `/v1/threads?agentId=${id}`)).body.items.length, 5)
  for (const [path, body] of ways) t.equal((await ask('eve@south+builder', 'POST', path, body)).status, 404, `${path} of another tenant`)
})

t.test('nothing of a runtime agent is seen in another tenant, where it is as if it did not exist', async (t) => {
  const { ask } = await startWithRuntimeAgents(t, { model: scriptedModel([['Hello.']]) })
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'ADAS-AGENT' })
  const nobody = '0197a3b2-7c01-7a10-9b2c-3d4e5f6a7b8c'
  for (const [method, path, body] of [['GET', '/v1/runtime-agents/:id'], ['PATCH', '/v1/runtime-agents/:id', { name: 'Taken' }], ['DELETE', '/v1/runtime-agents/:id'], ['GET', '/v1/agents/:id'], ['GET', '/v1/agents/:id/tools'], ['GET', '/v1/models/:id']] as const) {
    const [known, unknown] = await Promise.all([id, nobody].map((one) => ask('eve@south+builder', method, path.replace(':id', one), body)))
    t.equal(known?.status, 404, `${method} ${path}`)
    t.strictSame({ ...known?.body, ...known?.body.error, ref: '', error: '' }, { ...unknown?.body, ...unknown?.body.error, ref: '', error: '' })
  }
  for (const path of ['/v1/agents', '/v1/models', '/v1/runtime-agents']) t.notMatch((await ask('eve@south+builder', 'GET', path)).text, id, path)
  t.match(await ask('eve@south+builder', 'POST', '/v1/threads', { agentId: id }), { status: 400 })
  t.match(await ask('ada+builder', 'GET', `/v1/runtime-agents/${id}`), { status: 200, body: { name: 'ADAS-AGENT' } })
})

t.test('only callers who manage agents make and change them; others see those that can be talked to, without instructions', async (t) => {
  const { ask } = await startWithRuntimeAgents(t)
  const denied = { status: 403, body: { code: 'permission_denied', details: { operation: 'manage_agent' } } }
  t.match(await ask('bob', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'Bobs' }), denied)
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'Open', instructions: 'SECRET-INSTRUCTIONS' })
  const { body: { id: shut } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'Shut', active: false })
  for (const [method, body] of [['PATCH', { name: 'Bobs' }], ['DELETE']] as const) {
    t.match(await ask('bob', method, `/v1/runtime-agents/${id}`, body), denied, method)
    t.equal((await ask('bob', method, `/v1/runtime-agents/${shut}`, body)).status, 404, `${method} of one that he cannot see`)
  }
  const seen = await ask('bob', 'GET', '/v1/runtime-agents')
  t.strictSame(seen.body.items.map(({ id }: { id: string }) => id), [id])
  t.strictSame(Object.keys(seen.body.items[0]).sort(), ['active', 'base', 'createdAt', 'description', 'id', 'model', 'name', 'suggestions', 'tools', 'updatedAt'])
  t.strictSame((await ask('bob', 'GET', `/v1/runtime-agents/${id}`)).body, seen.body.items[0])
  t.equal((await ask('bob', 'GET', `/v1/agents/${id}`)).body.instructions, undefined)
  t.match((await ask('sue+builder+staff', 'GET', '/v1/runtime-agents')).body.items, [{ id, instructions: 'SECRET-INSTRUCTIONS', createdBy: 'ada' }, { id: shut, active: false }], 'they are the tenant’s, whoever made them')
  t.match((await ask('sue+builder+staff', 'GET', `/v1/agents/${id}`)).body, { instructions: 'SECRET-INSTRUCTIONS' })
  t.match(await ask('sue+builder+staff', 'PATCH', `/v1/runtime-agents/${id}`, { name: 'Sues' }), { status: 200, body: { createdBy: 'ada', name: 'Sues' } })
})

t.test('an agent keeps the permissions of its base', async (t) => {
  const databaseUrl = await testDatabaseUrl(t)
  const { app, ask } = await startWithRuntimeAgents(t, { databaseUrl })
  t.match(await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'staff', name: 'Mine' }), { status: 400, body: { details: { issues: [{ path: 'base', message: /no base "staff"/ }] } } }, 'a base that is not for her is not there')
  const { status, body: { id } } = await ask('sue+builder+staff', 'POST', '/v1/runtime-agents', { base: 'staff', name: 'Staff only', tools: ['lamp'] })
  t.equal(status, 201)
  for (const path of [`/v1/agents/${id}`, `/v1/runtime-agents/${id}`]) t.strictSame([(await ask('ada+builder', 'GET', path)).status, (await ask('sue+builder+staff', 'GET', path)).status], [404, 200], path)
  t.equal((await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi', agentId: id })).status, 404)
  await app.close()

  for (const config of [offering.replace("tools: ['clock', 'lamp']", 'tools: []'), offering.replace("bases: ['helper', 'plain', 'staff', 'chooser']", "bases: ['helper']")]) {
    const later = await startWithRuntimeAgents(t, { databaseUrl, config })
    t.strictSame((await later.ask('ada+builder', 'GET', '/v1/runtime-agents')).body.items, [], 'also where it cannot be made any more')
    t.match((await later.ask('sue+builder+staff', 'GET', '/v1/runtime-agents')).body.items, [{ id, problem: String }])
    await later.app.close()
  }
})

t.test('what cannot be an agent is refused by the name of the field, and nothing is kept', async (t) => {
  const { ask } = await startWithRuntimeAgents(t)
  const good = { base: 'plain', name: 'Good' }
  const { body: kept } = await ask('ada+builder', 'POST', '/v1/runtime-agents', good)
  const wrong: ReadonlyArray<readonly [field: string, body: Record<string, unknown>]> = [
    ...['nobody', 'member', '__proto__', 'constructor', '', 1, null, ['plain']].map((base) => ['base', { base }] as const),
    ...['', '   ', 'x'.repeat(101), 1, null, 'NUL \0'].map((name) => ['name', { name }] as const),
    ...[1, 'x'.repeat(1_001), {}].map((description) => ['description', { description }] as const),
    ...[1, 'x'.repeat(32_001), []].map((instructions) => ['instructions', { instructions }] as const),
    ...['nowhere:x', 'openai:gpt-4.1-mini', '', 1, '__proto__'].map((model) => ['model', { model }] as const),
    ...[['secret'], ['nothing'], ['__proto__'], ['constructor'], [1], [''], [{ name: 'clock' }]].map((tools) => ['tools.0', { tools }] as const),
    ['tools.1', { tools: ['clock', 'clock'] }],
    ['tools.0', { base: 'helper', tools: ['own'] }],
    ['tools', { base: 'chooser', tools: ['clock'] }],
    ['tools', { tools: 'clock' }], ['tools', { tools: null }], ['tools', { tools: Array(65).fill('clock') }],
    ['suggestions', { suggestions: 'on' }], ['suggestions', { suggestions: { count: 9 } }],
    ['active', { active: 'true' }], ['active', { active: null }],
    ...['id', 'tenantId', 'createdBy', 'revision', 'key', 'aliases', 'hidden', 'abstract', 'agents', 'permissions', 'maxSteps', 'budget', 'meta', 'constructor', 'toString'].map((field) => [field, { [field]: 'north' }] as const)
  ]
  for (const [field, body] of wrong) {
    for (const [method, path, whole] of [['POST', '/v1/runtime-agents', { ...good, ...body }], ['PATCH', `/v1/runtime-agents/${kept.id}`, body]] as const) {
      t.match(await ask('ada+builder', method, path, whole), { status: 400, body: { code: 'invalid_request', details: { issues: [{ path: field }] } } }, `${method} ${JSON.stringify(body).slice(0, 80)}`)
    }
  }
  for (const raw of ['{"__proto__":{"tenantId":"south"},"base":"plain","name":"X"}', '{"base":"plain","name":"X","tools":{"__proto__":["clock"]}}', '[]', 'null', '"x"', '{"base":']) {
    t.match(await ask('ada+builder', 'POST', '/v1/runtime-agents', raw), { status: 400, body: { code: 'invalid_request' } }, raw)
  }
  t.match(await ask('ada+builder', 'POST', '/v1/runtime-agents', { name: 'X' }), { status: 400, body: { details: { issues: [{ path: 'base' }] } } })
  t.strictSame((await ask('ada+builder', 'GET', '/v1/runtime-agents')).body, { items: [kept], nextCursor: null })
  t.strictSame((await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${kept.id}`, {})).body.name, 'Good', 'nothing to change changes nothing')
})

t.test('what is null is as the base has it', async (t) => {
  const model = scriptedModel([['Hello.']])
  const { ask } = await startWithRuntimeAgents(t, { model })
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'helper', name: 'N', description: '', instructions: 'MINE', suggestions: true })
  const view = async () => (await ask('ada+builder', 'GET', `/v1/agents/${id}`)).body
  t.match(await view(), { description: '', instructions: 'MINE', suggestions: true })
  await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${id}`, { description: null, instructions: null, suggestions: null })
  t.match(await view(), { description: 'Helps', instructions: 'BASE-INSTRUCTIONS', suggestions: false })
  await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${id}`, { base: 'plain' })
  t.match(await view(), { description: '', instructions: 'You are a helpful agent.' })
})

t.test('agents are listed page by page in the order they were made, also while some are removed', async (t) => {
  const { ask } = await startWithRuntimeAgents(t)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name })).body.id)
  for (const [path, before] of [['/v1/runtime-agents', 0], ['/v1/agents', 2]] as const) {
    const first = (await ask('ada+builder', 'GET', `${path}?limit=${before + 2}`)).body
    t.strictSame(first.items.slice(before).map(({ name }: { name: string }) => name), ['a', 'b'])
    const rest = (await ask('ada+builder', 'GET', `${path}?cursor=${first.nextCursor}`)).body
    t.match(rest, { items: [{ name: 'c' }, { name: 'd' }, { name: 'e' }], nextCursor: null })
  }
  const { nextCursor } = (await ask('ada+builder', 'GET', '/v1/runtime-agents?limit=2')).body
  await ask('ada+builder', 'DELETE', `/v1/runtime-agents/${ids[1]}`)
  t.match((await ask('ada+builder', 'GET', `/v1/runtime-agents?limit=2&cursor=${nextCursor}`)).body.items, [{ name: 'c' }, { name: 'd' }])
  t.equal((await ask('ada+builder', 'GET', '/v1/runtime-agents?cursor=nonsense')).status, 400)
})

t.test('changes that come at the same time are all kept', async (t) => {
  const { ask } = await startWithRuntimeAgents(t)
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'N' })
  const changes = [{ name: 'Named' }, { description: 'Described' }, { instructions: 'Instructed' }, { tools: ['lamp'] }, { model: 'offline' }, { suggestions: true }]
  const answers = await Promise.all(changes.map((change) => ask('ada+builder', 'PATCH', `/v1/runtime-agents/${id}`, change)))
  t.strictSame(answers.map(({ status }) => status), changes.map(() => 200))
  t.match((await ask('ada+builder', 'GET', `/v1/runtime-agents/${id}`)).body, Object.assign({}, ...changes))
  const removed = await Promise.all([1, 2, 3].map(() => ask('ada+builder', 'DELETE', `/v1/runtime-agents/${id}`)))
  t.strictSame(removed.map(({ status }) => status).sort(), [204, 404, 404])
})

t.test('an answer that is being written goes on when its agent is switched off or removed', async (t) => {
  let goOn = () => {}
  const told = new Promise<void>((resolve) => { goOn = resolve })
  const { ask } = await startWithRuntimeAgents(t, { model: scriptedModel([['Slow', { until: told }, ' and done.']]) })
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'N' })
  const running = ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi', agentId: id })
  await until('the answer is begun', async () => (await ask('bob', 'GET', '/v1/threads/bobs-thread')).status === 200)
  t.equal((await ask('ada+builder', 'DELETE', `/v1/runtime-agents/${id}`)).status, 204)
  goOn()
  t.equal(heard(await running), 'Slow and done.')
  t.match((await ask('bob', 'GET', '/v1/threads/bobs-thread/messages')).body.items, [{}, { metadata: { status: 'completed' } }])
})

t.test('a restart keeps them; what the configuration does not offer any more is shown to those who manage it, and cannot be talked to', async (t) => {
  const databaseUrl = await testDatabaseUrl(t)
  const first = await startWithRuntimeAgents(t, { databaseUrl })
  const make = async (body: object) => (await first.ask('ada+builder', 'POST', '/v1/runtime-agents', body)).body.id as string
  const good = await make({ base: 'helper', name: 'Good', instructions: 'KEPT' })
  const baseless = await make({ base: 'plain', name: 'Baseless' })
  const toolless = await make({ base: 'helper', name: 'Toolless', tools: ['clock', 'lamp'] })
  const modelless = await make({ base: 'helper', name: 'Modelless', model: 'offline' })
  await first.ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi', agentId: toolless })
  await first.app.close()

  const { lines, log } = loggedService()
  const { ask } = await startWithRuntimeAgents(t, { databaseUrl, log, config: offering.replace("'helper', 'plain', 'staff', 'chooser'], tools: ['clock', 'lamp'], models: ['offline']", "'helper'], tools: ['lamp']").replace("{ key: 'helper'", `{ key: 'other', aliases: ['${modelless}'] }, { key: 'helper'`) })
  t.match((await ask('ada+builder', 'GET', '/v1/runtime-agents')).body.items, [
    { id: good, problem: null, active: true, instructions: 'KEPT' },
    { id: baseless, problem: 'base: there is no base "plain" for runtime agents' },
    { id: toolless, problem: 'tools.0: there is no tool "clock" for runtime agents; expected one of lamp' },
    { id: modelless, problem: 'its id is a name of the agent "other"' }
  ])
  t.strictSame((await ask('bob', 'GET', '/v1/runtime-agents')).body.items.map(({ id }: { id: string }) => id), [good])
  t.match(lines.filter(({ msg }) => msg.includes('runtime agents')), [{ level: 40, count: 3, agents: [{ id: baseless, tenantId: 'default', problem: /no base/ }, { id: toolless }, { id: modelless }] }])
  t.equal((await ask('bob', 'POST', '/v1/threads/another-thread/messages', { text: 'Hi', agentId: baseless })).status, 404)
  t.match(await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' }), { status: 409, body: { code: 'conflict' } })
  t.match((await ask('bob', 'GET', `/v1/agents/${modelless}`)).body, { key: 'other' }, 'a name of the configuration comes first')

  t.match(await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${toolless}`, { name: 'Renamed' }), { status: 400, body: { details: { issues: [{ path: 'tools.0' }] } } })
  t.match(await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${baseless}`, { active: false }), { status: 200, body: { active: false } }, 'but it can be switched off')
  t.match(await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${baseless}`, { active: true }), { status: 400, body: { details: { issues: [{ path: 'base' }] } } })
  t.match(await ask('ada+builder', 'PATCH', `/v1/runtime-agents/${toolless}`, { tools: ['lamp'] }), { status: 200, body: { problem: null } }, 'or mended')
  t.equal((await ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' })).status, 200)
})

t.test('where the configuration says nothing of runtime agents there are none, and the routes say so', async (t) => {
  const databaseUrl = await testDatabaseUrl(t)
  const first = await startWithRuntimeAgents(t, { databaseUrl })
  const { body: { id } } = await first.ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'N' })
  await first.app.close()
  const { ask } = await startWithRuntimeAgents(t, { databaseUrl, config: "{ agents: [{ key: 'helper' }], permissions: { agent: ['allowAll'] } }" })
  for (const [method, path, body] of [['GET', ''], ['POST', '', { base: 'helper', name: 'N' }], ['GET', `/${id}`], ['PATCH', `/${id}`, { active: true }], ['DELETE', `/${id}`]] as const) {
    t.match(await ask('ada+builder', method, `/v1/runtime-agents${path}`, body), { status: 404, body: { code: 'not_found', message: /no runtime agents here/ } }, `${method} ${path}`)
  }
  t.equal((await ask('ada+builder', 'GET', `/v1/agents/${id}`)).status, 404)
})

t.test('what the memory of a base keeps of a thread goes with the thread, also of a base that is abstract', async (t) => {
  const forgotten: unknown[] = []
  const memory: Memory = { recall: () => [], remember: () => true, forget: (_owner, threadId) => { forgotten.push(threadId) } }
  const model = scriptedModel([['Hello.']])
  const { url } = await startApp(t, { model, agentKit: kitWith([{ key: 'base', abstract: true, memory, titleGeneration: false }], { model: model.id }), permissions: { agent: [allowAll] } })
  const { id } = JSON.parse((await post(`${url}/v1/runtime-agents`, { base: 'base', name: 'N' })).body) as { id: string }
  t.equal((await post(`${url}/v1/threads/kept-thread/messages`, { text: 'Hi', agentId: id })).status, 200)
  for (const path of [`runtime-agents/${id}`, 'threads/kept-thread']) t.equal((await fetch(`${url}/v1/${path}`, { method: 'DELETE' })).status, 204)
  t.strictSame(forgotten, ['kept-thread'])
})

t.test('a runtime agent is never the member of a crew', async (t) => {
  const { ask } = await startWithRuntimeAgents(t)
  const { body: { id } } = await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'N' })
  t.match(await ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'M', agents: [id] }), { status: 400, body: { details: { issues: [{ path: 'agents' }] } } })
  await t.rejects(startWithRuntimeAgents(t, { config: offering.replace("agents: ['member']", `agents: ['${id}']`) }), { code: 'configuration_error', message: /agent "helper": agents\[0\]: no agent/ }, 'what is made later is not there when crews are checked')
})

t.test('a process that shares the database with the one an agent was made in has it within two seconds', { skip: await skipWithoutPostgresql() }, async (t) => {
  const databaseUrl = await testDatabaseUrl(t, 'postgresql')
  const [here, there] = [await startWithRuntimeAgents(t, { databaseUrl, model: scriptedModel([['Here.']]) }), await startWithRuntimeAgents(t, { databaseUrl, model: scriptedModel([['There.']]) })]
  const { body: { id } } = await here.ask('ada+builder', 'POST', '/v1/runtime-agents', { base: 'plain', name: 'N' })
  t.equal(heard(await here.ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi', agentId: id })), 'Here.')
  await until('it is found there', async () => (await there.ask('bob', 'GET', `/v1/agents/${id}`)).status === 200, 2_000)
  t.equal(heard(await there.ask('bob', 'POST', '/v1/threads/bobs-thread/messages', { text: 'Hi' })), 'There.')
  await there.ask('ada+builder', 'PATCH', `/v1/runtime-agents/${id}`, { active: false })
  await until('it is off here', async () => (await here.ask('bob', 'GET', `/v1/agents/${id}`)).status === 404, 2_000)
  t.equal((await there.ask('ada+builder', 'DELETE', `/v1/runtime-agents/${id}`)).status, 204)
  t.match((await here.ask('ada+builder', 'GET', '/v1/runtime-agents')).body, { items: [] }, 'and who manages it sees at once that it is gone')
})
