import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { checkOrder } from '../../src/events/order.ts'
import { runEventSchema, type RunEvent } from '../../src/events/run-event.ts'
import { post, startApp, until } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'

const roll = defineTool({ name: 'roll', execute: () => 6 })
const ask = defineTool({ name: 'ask_colour' })
const broken = { throw: new Error('no') }

t.test('the events of a run can be read on from every position, without gap or repeat', async (t) => {
  const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'Hm.' }, 'Let me ', 'roll', ...toolCall('call-1', 'roll')], ['It ', 'is ', 'six']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [roll] }] })
  const runId = (await post(`${url}/api/chat`, { id: 'native-events', text: 'Roll' })).headers.get('x-run-id') ?? ''
  const all = await eventsOf(url, runId)
  t.strictSame(checkOrder(all), [])
  for (const event of all) t.ok(runEventSchema.safeParse(event).success, event.type)
  for (let after = -1; after < all.length; after++) {
    const rest = all.slice(after + 1)
    t.strictSame(await eventsOf(url, runId, { headers: { 'last-event-id': String(after) } }), rest, `Last-Event-ID ${after}`)
    t.strictSame(await eventsOf(url, runId, { query: `?after=${after}` }), rest, `?after=${after}`)
  }
  t.strictSame(await eventsOf(url, runId, { query: '?after=3', headers: { 'last-event-id': '0' } }), all.slice(4), 'the query is the more explicit')
})

t.test('readers who join a running run at any position get the rest as it comes', async (t) => {
  const words = Array.from({ length: 40 }, (_, index) => `w${index} `)
  const model = scriptedModel([words.flatMap((word) => [word, { waitMs: 10 }])])
  const { url } = await startApp(t, { model })
  const posted = await fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify({ id: 'running-run', text: 'Go' }), headers: { 'content-type': 'application/json' } })
  const runId = posted.headers.get('x-run-id') ?? ''
  const readers = await Promise.all(Array.from({ length: 46 }, (_, index) => eventsOf(url, runId, { query: `?after=${index - 1}` })))
  await posted.text()
  const [all = []] = readers
  t.strictSame(checkOrder(all), [])
  for (const [index, events] of readers.entries()) t.strictSame(events, all.slice(index), `after ${index - 1}`)
})

t.test('a long run is read on from every position, its older deltas merged', async (t) => {
  const words = Array.from({ length: 5_000 }, (_, index) => `${index} `)
  const { url } = await startApp(t, { model: scriptedModel([words]) })
  const runId = (await post(`${url}/api/chat`, { id: 'long-running', text: 'Count' })).headers.get('x-run-id') ?? ''
  const all = await eventsOf(url, runId)
  t.strictSame(checkOrder(all), [])
  t.ok(all.length < words.length, 'deltas were merged')
  const firstDelta = all.findIndex(({ type }) => type === 'text-delta')
  for (let after = firstDelta - 1; after < firstDelta + words.length; after += 311) {
    const rest = await eventsOf(url, runId, { query: `?after=${after}` })
    t.equal(textOf(rest), words.slice(after - firstDelta + 1).join(''), `after ${after}`)
    t.ok((rest[0]?.seq ?? 0) > after)
    t.strictSame(rest.filter(({ type }) => type !== 'text-delta'), all.slice(firstDelta).filter(({ type }) => type !== 'text-delta'))
  }
})

t.test('events are in order however a run ends', async (t) => {
  const agents = [{ key: 'tester', tools: [roll, ask] }]
  const waits = scriptedModel([[...toolCall('call-1', 'roll'), ...toolCall('call-2', 'ask_colour')], ['Red']])
  const waiting = await startApp(t, { model: waits, agents })
  const first = await post(`${waiting.url}/api/chat`, { id: 'suspended-run', text: 'Go' })
  const suspended = await eventsOf(waiting.url, first.headers.get('x-run-id') ?? '')
  t.match(suspended.at(-1), { type: 'run-suspended', pendingCalls: ['call-2'] })
  t.strictSame(checkOrder(suspended), [])
  const messageId = String(first.chunks[0]?.['messageId'])
  const parts = [{ type: 'tool-ask_colour', toolCallId: 'call-2', state: 'output-available', output: 'red' }]
  const next = await post(`${waiting.url}/api/chat`, { id: 'suspended-run', messages: [{ id: messageId, role: 'assistant', parts }] })
  const continued = await eventsOf(waiting.url, next.headers.get('x-run-id') ?? '')
  t.match(continued, [{ type: 'message-start', messageId, continued: true }, { type: 'tool-output', callId: 'call-2' }, { type: 'step-start' }])
  t.strictSame(checkOrder(continued), [])

  for (const [name, model, end] of [
    ['failed', scriptedModel([['Once', ...toolCall('call-1', 'roll'), broken]]), 'run-failed'],
    ['unfinished', scriptedModel([['Once', { type: 'tool-call-start', callId: 'call-1', toolName: 'roll' }, broken]]), 'run-failed'],
    ['refused', scriptedModel([[broken]]), 'run-failed'],
    ['stopped', scriptedModel([['Once', ...toolCall('call-1', 'roll')], ['Twice', { hang: true }]]), 'run-stopped'],
    ['stopped-in-call', scriptedModel([['Once', { type: 'tool-call-start', callId: 'call-1', toolName: 'roll' }, { hang: true }]]), 'run-stopped']
  ] as const) {
    const { url } = await startApp(t, { model, agents })
    const posted = post(`${url}/api/chat`, { id: `${name}-run-of-it`, text: 'Go' })
    if (end === 'run-stopped') {
      await until('it hangs', async () => (await (await fetch(`${url}/v1/threads/${name}-run-of-it/messages?include=streaming`)).text()).includes(name === 'stopped' ? 'Twice' : 'input-streaming'))
      await fetch(`${url}/v1/threads/${name}-run-of-it/stop`, { method: 'POST' })
    }
    const events = await eventsOf(url, (await posted).headers.get('x-run-id') ?? '')
    t.equal(events.at(-1)?.type, end, name)
    t.strictSame(checkOrder(events), [], name)
  }
})

t.test('a position that is none is refused, a run that is none is not found', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  const runId = (await post(`${url}/api/chat`, { id: 'bad-positions', text: 'Hi' })).headers.get('x-run-id') ?? ''
  t.equal((await fetch(`${url}/v1/runs/${runId}/events?after=soon`)).status, 400)
  t.equal((await fetch(`${url}/v1/runs/${runId}/events`, { headers: { 'last-event-id': 'x' } })).status, 400)
  t.equal((await fetch(`${url}/v1/runs/no-such-run/events`)).status, 404)
})

/** Reads a native stream to its end; its three fields must say the same. */
async function eventsOf (url: string, runId: string, { query = '', headers = {} }: { query?: string, headers?: Record<string, string> } = {}): Promise<RunEvent[]> {
  const response = await fetch(`${url}/v1/runs/${runId}/events${query}`, { headers })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.text()).split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':')).map((frame) => {
    const [, type, id, data] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(frame) ?? []
    const event = JSON.parse(data ?? '') as RunEvent
    if (event.type !== type || String(event.seq) !== id) throw new Error(`The fields of a frame differ: ${frame}`)
    return event
  })
}

function textOf (events: readonly RunEvent[]): string {
  return events.map((event) => event.type === 'text-delta' ? event.delta : '').join('')
}
