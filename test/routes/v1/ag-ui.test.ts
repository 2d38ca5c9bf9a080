import t from 'tap'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, post, startApp } from '../../helpers/app.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

const question = { id: 'question-1', role: 'user', content: 'Hi' }
const body = { threadId: 'thread-1', runId: 'run-1', messages: [question], tools: [], context: [], state: {}, forwardedProps: {} }

t.test('a run is data lines from RUN_STARTED to RUN_FINISHED, with the ids it can be found by', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  const reply = await post(`${url}/v1/agents/tester/ag-ui`, body)
  t.equal(reply.status, 200)
  t.equal(reply.headers.get('content-type'), 'text/event-stream')
  t.equal(reply.headers.get('cache-control'), 'no-cache, no-transform')
  t.equal(reply.headers.get('x-vercel-ai-ui-message-stream'), null)
  t.equal(reply.headers.get('x-thread-id'), 'thread-1')
  for (const frame of reply.body.split('\n\n').filter((frame) => frame !== '')) t.match(frame, /^(data: \{.*\}|: .*)$/)
  t.strictSame(reply.chunks.map(({ type }) => type), ['RUN_STARTED', 'STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED'])
  const runId = reply.headers.get('x-run-id')
  t.match(await getJson(`${url}/v1/runs/${runId}`), { threadId: 'thread-1', status: 'completed' })
  t.equal(reply.chunks[2]?.['messageId'], (await getJson(`${url}/v1/threads/thread-1/messages`)).items[1].id)
})

t.test('an agent is asked by its key or its id, with no more than the protocol demands', async (t) => {
  const { url, app } = await startApp(t, { model: scriptedModel([['Hello']]) })
  const { threadId, runId, messages } = body
  const reply = await post(`${url}/v1/agents/${app.agents.find('tester')?.id}/ag-ui`, { threadId, runId, messages, extra: 1, tools: null })
  t.equal(reply.chunks.at(-1)?.type, 'RUN_FINISHED')
  t.notOk('outcome' in (reply.chunks.at(-1) ?? {}))
})

t.test('what the application passes on as metadata is the tools\'', async (t) => {
  const seen: unknown[] = []
  const note = defineTool({ name: 'note', execute: (_input, { metadata }) => { seen.push(metadata) } })
  const { url } = await startApp(t, { model: scriptedModel([toolCall('c1', 'note'), ['Noted']]), agents: [{ key: 'tester', tools: [note] }] })
  await post(`${url}/v1/agents/tester/ag-ui`, { ...body, forwardedProps: { metadata: { unit: 'north' }, theme: 'dark' } })
  t.strictSame(seen, [{ unit: 'north' }])
})

t.test('a file of the thread is part of a message', async (t) => {
  const model = scriptedModel([['Seen']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', fileUpload: true }] })
  await post(`${url}/v1/threads`, { id: 'thread-1', agentId: 'tester' })
  const form = new FormData()
  form.append('file', new Blob(['Bern has 120 visitors.']), 'notes.txt')
  const { items: [file] } = await (await fetch(`${url}/v1/threads/thread-1/files`, { method: 'POST', body: form })).json() as { items: { id: string }[] }
  const source = { type: 'url', value: `${url}/v1/threads/thread-1/files/${file?.id}/content`, mimeType: 'text/plain' }
  const reply = await post(`${url}/v1/agents/tester/ag-ui`, { ...body, messages: [{ ...question, content: [{ type: 'text', text: 'How many?' }, { type: 'document', source }] }] })
  t.equal(reply.chunks.at(-1)?.type, 'RUN_FINISHED')
  t.match(model.requests[0]?.messages[0], { content: /Bern has 120 visitors\./ })
})

t.test('what is wrong with a body is refused by its path, and nothing is stored', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model })
  for (const [fault, path] of [
    [{ threadId: 'short' }, 'threadId'], [{ threadId: undefined }, 'threadId'], [{ runId: undefined }, 'runId'], [{ runId: 'x'.repeat(201) }, 'runId'],
    [{ messages: undefined }, 'messages'], [{ messages: [] }, 'messages'], [{ messages: ['Hi'] }, 'messages.0'], [{ messages: [{ content: 'Hi' }] }, 'messages.0.role'], [{ messages: [{ ...question, id: 1 }] }, 'messages.0.id'],
    [{ messages: [{ ...question, content: '' }] }, 'messages.0.content'], [{ messages: [question, { role: 'tool', id: 'a1', content: 'x' }] }, 'messages.1.toolCallId'],
    [{ tools: 'all' }, 'tools'], [{ context: {} }, 'context'], [{ protocolVersion: 1 }, 'protocolVersion']
  ] as const) {
    const reply = await post(`${url}/v1/agents/tester/ag-ui`, { ...body, ...fault })
    t.equal(reply.status, 400, path)
    t.match(JSON.parse(reply.body), { code: 'invalid_request', message: new RegExp(`^${path}: `), details: { issues: [{ path }] } }, path)
  }
  t.equal((await post(`${url}/v1/agents/tester/ag-ui`, undefined)).status, 400)
  t.equal(model.requests.length, 0)
  t.equal((await fetch(`${url}/v1/threads/thread-1`)).status, 404)
})
