import t, { type Test } from 'tap'
import { z } from 'zod'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, openStream, post, startApp, textIn, until } from '../../helpers/app.ts'
import { startScriptedUpstream, type UpstreamAnswer } from '../../helpers/scripted-upstream.ts'

const ask = (id: string, name: string) => ({ id, name, input: { task: `task ${id}` } })

/** A crew of three levels whose deepest agents hang: in a tool that listens, in one that does not, and in its model. */
async function hangingCrew (t: Test) {
  const begun: string[] = []
  const aborted: string[] = []
  const tool = (name: string, listens: boolean) => defineTool({
    name,
    execute: (_input, { signal }) => new Promise((_resolve, reject) => {
      begun.push(name)
      signal.addEventListener('abort', () => {
        aborted.push(name)
        if (listens) reject(signal.reason)
      })
    })
  })
  const upstream = await startScriptedUpstream(t, {
    root: [{ text: 'Working. ', calls: [ask('d1', 'a')] }],
    a: [{ calls: [ask('d2', 'b')] }],
    b: [{ calls: [{ id: 'h1', name: 'listens' }, { id: 'h2', name: 'deaf' }, ask('d3', 'c')] }],
    c: [{ text: 'I begin', hang: true }],
    calm: [{ text: 'Calm.' }]
  })
  const member = (key: string, more: object = {}) => ({ key, model: `script:${key}`, maxDepth: 3, ...more })
  const server = await startApp(t, {
    models: upstream.models,
    agents: [member('root', { agents: ['a'] }), member('a', { agents: ['b'] }), member('b', { tools: [tool('listens', true), tool('deaf', false)], agents: ['c'] }), member('c'), member('calm')]
  })
  return { ...server, upstream, begun, aborted }
}

type HangingCrew = Awaited<ReturnType<typeof hangingCrew>>

/** The timers that keep this process alive: of limits, of pauses. */
function timers (): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

/** Stops a turn once everything in it hangs; milliseconds until the client, the tools and the provider had all been told. */
async function stopOnce (t: Test, { url, upstream, begun, aborted, app }: HangingCrew, threadId: string): Promise<number> {
  const [seen, timersBefore] = [upstream.calls.length, timers()]
  begun.length = aborted.length = 0
  const stream = await openStream(`${url}/v1/threads/${threadId}/messages`, { text: 'Go', agentId: 'root' })
  const mine = () => upstream.calls.slice(seen)
  await until('all of them hang', () => begun.length === 2 && mine().some(({ model }) => model === 'c') && stream.text() === 'Working. ')
  t.ok(timers() > timersBefore, 'limits are watched')

  const stoppedAt = performance.now()
  const stopped = await fetch(`${url}/v1/threads/${threadId}/stop`, { method: 'POST' })
  await stream.ended
  await until('the provider is let go', () => mine().every(({ state }) => state !== 'open'))
  const tookMs = performance.now() - stoppedAt

  t.match(await stopped.json(), { runId: String })
  t.strictSame(aborted.toSorted(), ['deaf', 'listens'])
  t.strictSame(mine().map(({ model, state }) => [model, state]), [['root', 'answered'], ['a', 'answered'], ['b', 'answered'], ['c', 'closed']])
  t.equal(app.runRegistry.running, 0)
  await until('nothing is watched any more', () => timers() === timersBefore)
  const { items } = await getJson(`${url}/v1/threads/${threadId}/messages`)
  t.match(items[1], { metadata: { status: 'stopped' } })
  const tools = items[1].parts.filter(({ toolCallId }: { toolCallId?: string }) => toolCallId !== undefined)
  t.strictSame(tools.map(({ state }: { state: string }) => state), Array(5).fill('output-error'), 'every call is answered')
  return tookMs
}

t.test('one stop reaches a crew three deep within 200 ms, and leaves nothing running', async (t) => {
  const crew = await hangingCrew(t)
  let tookMs = Infinity
  // What else the machine does only adds to it.
  for (let attempt = 1; attempt <= 4 && tookMs >= 200; attempt++) tookMs = await stopOnce(t, crew, `stopped-crew-${attempt}`)
  t.ok(tookMs < 200, `${tookMs} ms`)
  const { url, upstream } = crew
  const asked = upstream.calls.length
  await fetch(`${url}/v1/threads/stopped-crew-1`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"agentId":"calm"}' })
  t.equal(textIn(await post(`${url}/v1/threads/stopped-crew-1/messages`, { text: 'And now?' })), 'Calm.')
  t.strictSame(upstream.calls.slice(asked).map(({ model }) => model), ['calm'], 'nobody of the crew was asked again')
})

t.test('the budget of the root stops a member before the call that would go beyond it, and the thread goes on', async (t) => {
  const answers = (tokens: number, ...list: UpstreamAnswer[]) => list.map((answer) => ({ ...answer, took: { input: tokens, output: 10 } }))
  const upstream = await startScriptedUpstream(t, {
    root: answers(100, { calls: [ask('d1', 'a')] }, { text: 'From what there is.' }),
    a: answers(100, { calls: [ask('d2', 'b')] }, { text: 'A reports.' }),
    b: answers(100, { calls: [{ id: 'c1', name: 'book' }] }, { text: 'Never.' })
  })
  const book = defineTool({ name: 'book', input: z.object({}), execute: () => 'word '.repeat(3_000) })
  const { url } = await startApp(t, {
    models: upstream.models,
    agents: [{ key: 'root', agents: ['a'], budget: { tokens: 3_000 } }, { key: 'a', model: 'script:a', agents: ['b'] }, { key: 'b', model: 'script:b', tools: [book] }]
  })
  const thread = `${url}/v1/threads/spent-thread`
  const ask1 = await post(`${thread}/messages`, { text: 'Go', agentId: 'root' })
  t.equal(textIn(ask1), 'From what there is.')
  t.strictSame(upstream.calls.map(({ model }) => model), ['root', 'a', 'b', 'a', 'root'], 'b is not asked with the book')
  t.match(upstream.askedOf('a')[1]?.messages.at(-1), { role: 'tool', content: /No report was finished/ })
  const { items: [, answer] } = await getJson(`${thread}/messages`)
  t.match(answer.metadata, { status: 'completed' })
  t.ok(answer.parts.every(({ state }: { state?: string }) => state === undefined || ['done', 'output-available', 'output-error'].includes(state)))

  const asked = upstream.calls.length
  t.equal(textIn(await post(`${thread}/messages`, { text: 'Again' })), 'From what there is.')
  t.strictSame(upstream.calls.slice(asked).map(({ model }) => model), ['root', 'a', 'b', 'a', 'root'], 'with a budget of its own')
})

t.test('the text of a member that takes over is stored once, and told to the coordinator once on the next turn', async (t) => {
  const upstream = await startScriptedUpstream(t, {
    root: [{ text: 'I pass you on.', calls: [ask('d1', 'a')] }],
    a: [{ calls: [{ id: 'c1', name: 'look' }] }, { text: 'The sea is blue.' }],
    calm: [{ text: 'Calm.' }]
  })
  const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'SEEN-BY-MEMBER' })
  const { url } = await startApp(t, { models: upstream.models, agents: [{ key: 'root', agents: [{ agent: 'a', mode: 'handover' }] }, { key: 'a', model: 'script:a', tools: [look] }, { key: 'calm', model: 'script:calm' }] })
  const thread = `${url}/v1/threads/handed-over`
  t.equal(textIn(await post(`${thread}/messages`, { text: 'Go', agentId: 'root' })), 'I pass you on.The sea is blue.')
  const { items: [, answer] } = await getJson(`${thread}/messages`)
  t.equal(JSON.stringify(answer.parts).split('The sea is blue.').length, 2)
  t.match(answer.parts.find(({ toolCallId }: { toolCallId?: string }) => toolCallId === 'd1'), { output: { handedOver: true } })

  await fetch(thread, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"agentId":"calm"}' })
  await post(`${thread}/messages`, { text: 'And now?' })
  const told = upstream.askedOf('calm')[0]?.messages ?? []
  t.strictSame(told.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'user'])
  t.match(told[3], { content: '{"handedOver":true}' })
  t.equal(JSON.stringify(told).split('The sea is blue.').length, 2)
  t.notMatch(JSON.stringify(told), /SEEN-BY-MEMBER/)
})
