import t, { type Test } from 'tap'
import { z } from 'zod'
import { anyOf, definePermission, forOperations, type Permission } from '../../../src/auth/permission.ts'
import type { PermissionLists } from '../../../src/auth/permissions.ts'
import { hasRole, isOwner } from '../../../src/auth/shipped-permissions.ts'
import { volatile } from '../../../src/memories/volatile.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { startApp, until, userMessage } from '../../helpers/app.ts'
import { callersWithKeys } from '../../helpers/callers.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'

const names = ['ada', 'bob', 'sue+support', 'sue@south+support'] as const
type Name = typeof names[number]
type Answer = { readonly status: number, readonly body: ReturnType<typeof JSON.parse> }

/** Support sees the threads of everybody and answers in them; who owns them alone changes them. */
const supported: Partial<PermissionLists> = { thread: [anyOf(isOwner, hasRole('support')), forOperations(['manage_thread', 'manage_file'], isOwner)] }

t.test('whom permissions let reaches the threads of others in the tenant, as far as they let', async (t) => {
  const { ask, say, asked } = await serve(t, { permissions: supported, script: [['First.'], ['Second.'], toolCall('c1', 'who'), ['Third.']] })
  await say('ada', 'adas-thread', 'Help')
  await say('sue+support', 'sues-thread', 'Mine')
  const list = async (name: Name) => (await ask(name, 'GET', '/v1/threads')).body.items.map(({ id, ownerId }: { id: string, ownerId: string }) => `${ownerId} ${id}`)
  t.strictSame((await list('sue+support')).sort(), ['ada adas-thread', 'sue sues-thread'])
  t.strictSame([await list('bob'), await list('sue@south+support')], [[], []])

  const { body: { items: [, answer] } } = await ask('sue+support', 'GET', '/v1/threads/adas-thread/messages')
  const rating = `/v1/threads/adas-thread/messages/${answer.id}/rating`
  t.equal((await ask('sue+support', 'PUT', rating, { rating: 1 })).status, 200)
  t.equal((await ask('sue+support', 'GET', '/v1/threads/adas-thread/messages')).body.items[1].metadata.rating.rating, 1)
  t.equal((await ask('ada', 'GET', '/v1/threads/adas-thread/messages')).body.items[1].metadata.rating, undefined, 'it is of whoever rates')
  t.equal((await ask('sue+support', 'GET', `/v1/runs/${answer.metadata.runId}`)).status, 200)

  t.equal((await say('sue+support', 'adas-thread', 'I can help')).status, 200)
  t.strictSame((await ask('ada', 'GET', '/v1/threads/adas-thread/messages')).body.items.length, 4, 'it is her thread that goes on')
  t.strictSame(asked(), { userId: 'sue', ownerId: 'ada' }, 'and her helper whose run it is')

  for (const [method, path, body] of [['PATCH', '/v1/threads/adas-thread', { title: 'Taken' }], ['DELETE', '/v1/threads/adas-thread'], ['DELETE', `/v1/threads/adas-thread/messages/${answer.id}`]] as const) {
    t.match(await ask('sue+support', method, path, body), { status: 403, body: { code: 'permission_denied', details: { operation: 'manage_thread' } } }, method)
  }
  t.match(await ask('bob', 'PATCH', '/v1/threads/adas-thread', { title: 'Taken' }), { status: 404, body: { code: 'not_found' } }, 'what is not for them to see is not there')
  t.match((await ask('sue+support', 'DELETE', '/v1/threads')).body, { deleted: 1 }, 'all threads are all of their own')
  t.strictSame([await list('ada'), await list('sue+support')], [['ada adas-thread'], ['ada adas-thread']])

  await say('bob', 'same-thread', 'Mine')
  await say('ada', 'same-thread', 'Mine too')
  t.match(await ask('sue+support', 'GET', '/v1/threads/same-thread'), { status: 409, body: { code: 'conflict' } }, 'ids are unique for each owner only')
  t.match((await ask('bob', 'GET', '/v1/threads/same-thread')).body, { ownerId: 'bob' })
})

t.test('a call is decided by whom permissions let, and goes on for whom it was made', async (t) => {
  const permissions = { thread: [anyOf(isOwner, hasRole('support')), forOperations(['decide_approval'], hasRole('support'))] }
  const { ask, say, asked, message } = await serve(t, { permissions, script: [toolCall('c1', 'gated'), ['Done.']] })
  await say('ada', 'adas-thread', 'Do it')
  const { body: { items: [approval] } } = await ask('ada', 'GET', '/v1/threads/adas-thread/approvals')
  t.match(await ask('ada', 'POST', `/v1/approvals/${approval.id}`, { approved: true }), { status: 403, body: { details: { operation: 'decide_approval' } } })
  const { id, parts } = await message('ada', 'adas-thread')
  const verdict = { message: { id, role: 'assistant', parts: parts.map((part: { toolCallId?: string }) => part.toolCallId === 'c1' ? { ...part, state: 'approval-responded', approval: { id: approval.id, approved: true } } : part) } }
  t.match(await ask('ada', 'POST', '/v1/threads/adas-thread/messages', verdict), { status: 403, body: { details: { operation: 'decide_approval' } } }, 'with a message as well')
  t.equal(asked(), undefined)
  t.match(await ask('sue@south+support', 'POST', `/v1/approvals/${approval.id}`, { approved: true }), { status: 404 })

  t.match(await ask('sue+support', 'POST', `/v1/approvals/${approval.id}`, { approved: true }), { status: 200, body: { status: 'approved', resumedRunId: String } })
  await until('it has gone on', async () => (await message('ada', 'adas-thread')).metadata.status === 'completed')
  t.strictSame(asked(), { userId: 'ada' }, 'not with what the other may do')
  t.match(await ask('ada', 'POST', '/v1/threads/adas-thread/messages', verdict), { status: 200 }, 'told again it decides nothing')
})

t.test('what has expired goes on for whom it was made, with their roles', async (t) => {
  const { say, asked, message, app } = await serve(t, { permissions: {}, script: [toolCall('c1', 'gated'), toolCall('c2', 'who'), ['Done.']], env: { APPROVAL_TTL_MS: '1' } })
  await say('sue+support', 'sues-thread', 'Do it')
  await until('it has gone on', async () => {
    await app.approvals.expire()
    return (await message('sue+support', 'sues-thread')).metadata.status === 'completed'
  })
  t.strictSame(asked(), { userId: 'sue' })
  t.strictSame(asked('roles'), ['support'])
})

t.test('a check looks at each thread', async (t) => {
  const unlocked: Permission = definePermission({ filter: () => 'own', check: (_principal, operation, thread) => operation !== 'manage_thread' || thread?.kind !== 'thread' || thread.metadata['locked'] !== true })
  const { ask } = await serve(t, { permissions: { thread: [unlocked] }, script: [['Hello']] })
  for (const [id, locked] of [['thread-open', false], ['thread-shut', true]] as const) t.equal((await ask('ada', 'POST', '/v1/threads', { id, agentId: 'tester', metadata: { locked } })).status, locked ? 403 : 201)
  await ask('ada', 'POST', '/v1/threads/thread-shut/messages', { text: 'Hi', agentId: 'tester', metadata: { locked: true } })
  t.match(await ask('ada', 'DELETE', '/v1/threads/thread-shut'), { status: 403, body: { details: { operation: 'manage_thread' } } })
  t.equal((await ask('bob', 'DELETE', '/v1/threads/thread-shut')).status, 404)
  t.strictSame((await ask('ada', 'DELETE', '/v1/threads')).body, { deleted: 1 })
  t.strictSame((await ask('ada', 'GET', '/v1/threads')).body.items.map(({ id }: { id: string }) => id), ['thread-shut'])
})

t.test('an agent that a caller may not view is not there, and one they may only view is refused', async (t) => {
  const agents = [
    { key: 'tester', agents: ['secret', 'shown'] },
    { key: 'secret', permissions: [hasRole('support')] },
    { key: 'shown', permissions: [forOperations(['chat', 'run', 'manage_agent'], hasRole('support'))], instructions: 'SHOWN-INSTRUCTIONS' }
  ]
  const { ask } = await serve(t, { permissions: {}, script: [['Hello']], agents })
  const keys = async (name: Name) => (await ask(name, 'GET', '/v1/agents')).body.items.map(({ key }: { key: string }) => key)
  t.strictSame([await keys('ada'), await keys('sue+support')], [['tester', 'shown'], ['tester', 'secret', 'shown']])
  t.strictSame((await ask('ada', 'GET', '/v1/models')).body.data.map(({ id }: { id: string }) => id), ['tester', 'shown'])
  for (const path of ['/v1/agents/secret', '/v1/agents/secret/tools', '/v1/models/secret']) t.strictSame([(await ask('ada', 'GET', path)).status, (await ask('sue+support', 'GET', path)).status], [404, 200], path)
  t.strictSame([(await ask('ada', 'GET', '/v1/agents/shown')).body.instructions, (await ask('sue+support', 'GET', '/v1/agents/shown')).body.instructions], [undefined, 'SHOWN-INSTRUCTIONS'], 'its instructions are for those who manage it')

  const crew = async (name: Name) => (await ask(name, 'GET', '/v1/agents/tester/tools')).body.children.map(({ name }: { name: string }) => name)
  t.strictSame([await crew('ada'), await crew('sue+support')], [['shown'], ['secret', 'shown']], 'nor among the members of a crew')

  const conversation = [{ role: 'user', content: 'Hi' }]
  const messages = [userMessage('Hi')]
  const ways = (agentId: string) => [
    ['/v1/threads/new-thread/messages', { text: 'Hi', agentId }, 'chat'],
    [`/v1/agents/${agentId}/run`, { input: 'Hi' }, 'run'],
    [`/v1/agents/${agentId}/run`, { input: 'Hi', threadId: 'new-thread' }, 'run'],
    [`/v1/agents/${agentId}/ag-ui`, { threadId: 'new-thread', runId: 'run-1', messages: [{ id: 'm1', ...conversation[0] }] }, 'chat'],
    ['/v1/chat/completions', { model: agentId, messages: conversation }, undefined],
    ['/api/chat', { agentId, messages }, 'chat'],
    ['/api/chat', { id: 'new-thread', agentId, messages }, 'chat']
  ] as const
  for (const [path, body] of ways('secret')) t.equal((await ask('ada', 'POST', path, body)).status, 404, path)
  for (const [path, body, operation] of ways('shown')) {
    const answer = await ask('ada', 'POST', path, body)
    t.match(answer, { status: 403, body: operation === undefined ? { error: { code: 'permission_denied' } } : { code: 'permission_denied', details: { operation } } }, path)
  }
  t.match(await ask('ada', 'POST', '/v1/threads', { agentId: 'secret' }), { status: 400, body: { code: 'invalid_request' } })
  t.match(await ask('ada', 'POST', '/v1/threads', { agentId: 'shown' }), { status: 403, body: { details: { operation: 'chat' } } })
  t.strictSame((await ask('ada', 'GET', '/v1/threads')).body.items, [], 'nothing was kept of it')
  for (const [path, body] of ways('secret').slice(4)) t.equal((await ask('sue+support', 'POST', path, body)).status, 200, path)
})

t.test('an answer in a thread is refused once its agent is closed to the caller', async (t) => {
  let isOpen = true
  const { ask, say } = await serve(t, { permissions: { agent: [({ userId }, operation) => isOpen || operation === 'view_agent' || userId !== 'ada'] }, script: [['Hello']] })
  t.equal((await say('ada', 'adas-thread', 'Hi')).status, 200)
  isOpen = false
  t.match(await say('ada', 'adas-thread', 'And now?'), { status: 403, body: { details: { operation: 'chat' } } })
  t.equal((await ask('ada', 'GET', '/v1/threads/adas-thread/messages')).body.items.length, 2)
})

interface Served { readonly permissions: Partial<PermissionLists>, readonly script: ReadonlyArray<readonly ScriptStep[]>, readonly agents?: NonNullable<Parameters<typeof startApp>[1]['agents']>, readonly env?: Record<string, string> }

async function serve (t: Test, { permissions, script, agents, env = {} }: Served) {
  const { callers, env: keys } = callersWithKeys(...names)
  const seen: { userId: string, ownerId?: string, roles: readonly string[] }[] = []
  const who = defineTool({ name: 'who', input: z.object({}), execute: (_input, { principal }) => { seen.push(principal) } })
  const gated = defineTool({ name: 'gated', input: z.object({}), needsApproval: true, execute: (_input, { principal }) => { seen.push(principal) } })
  const tester = [{ key: 'tester', tools: [who, gated], memory: volatile() }]
  const { app, url } = await startApp(t, { model: scriptedModel(script), agents: agents ?? tester, permissions, env: { ...keys, ...env } })
  const ask = async (name: Name, method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url + path, { method, headers: { ...callers[name].headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    const text = await response.text()
    return { status: response.status, body: response.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text }
  }
  return {
    app, ask,
    say: (name: Name, threadId: string, text: string) => ask(name, 'POST', `/v1/threads/${threadId}/messages`, { text, agentId: 'tester' }),
    message: async (name: Name, threadId: string) => (await ask(name, 'GET', `/v1/threads/${threadId}/messages`)).body.items.at(-1),
    /** For whom the newest tool was called. */
    asked (what: 'who' | 'roles' = 'who') {
      const principal = seen.at(-1)
      if (principal === undefined || what === 'roles') return principal?.roles
      const { userId, ownerId } = principal
      return { userId, ...(ownerId === undefined ? {} : { ownerId }) }
    }
  }
}
