import t from 'tap'
import { checkOrder } from '../../../../src/events/order.ts'
import type { RunEventBody } from '../../../../src/events/run-event.ts'
import { agUiProtocol, encodeAgUi } from '../../../../src/protocols/ag-ui/encode.ts'
import type { AgUiOptions } from '../../../../src/protocols/ag-ui/frames.ts'
import { agUiClients, answerTold, foldAgUi, told } from '../../../helpers/ag-ui-clients.ts'
import { randomRun, seeded } from '../../../helpers/random-run.ts'
import { assemble, ended, inBatches, stamped, started } from '../../../helpers/run-events.ts'
import { fullTranscripts, transcripts } from './transcripts.ts'

for (const { name, events, options, wire, outcome } of [...transcripts, ...fullTranscripts.map((full) => ({ ...full, name: `full: ${full.name}` }))]) {
  t.test(`${name}: the bytes are these`, async (t) => {
    t.equal(await encoded(events, options), [': stream-open', ...wire.map((json) => `data: ${json}`)].map((line) => `${line}\n\n`).join(''))
    t.strictSame(checkOrder(events), [])
  })

  t.test(`${name}: clients accept every event`, async (t) => {
    const bytes = await encoded(events, options, 3)
    for (const client of name.startsWith('full: ') ? ['agui1'] as const : agUiClients) {
      const end = await foldAgUi(client, bytes)
      t.equal(end.error, undefined, client)
      t.strictSame(end.warnings, [], `${client}: nothing is left out`)
      t.equal(end.events.length, wire.length, client)
      t.equal(end.outcome, outcome, client)
    }
  })
}

t.test('a client whose reader leaves something out is heard', async (t) => {
  const bytes = (await encoded([started, { type: 'run-completed' }])).replace('"runId":"run-1"}', '"runId":"run-1","novelty":1}')
  t.match((await foldAgUi('agui1', bytes)).warnings, [/novelty/])
  t.match((await foldAgUi('agui0', bytes.replace('"threadId":"thread-1"', '"threadId":1'))).error, { name: 'ZodError' })
})

t.test('whatever a run does, every client ends with the messages that the stored parts tell of', async (t) => {
  for (let seed = 1; seed <= 60; seed++) {
    const events = randomRun(seeded(seed))
    const bytes = await encoded(events, {}, 1 + seed % 5)
    for (const client of agUiClients) {
      const { messages, error, warnings } = await foldAgUi(client, bytes)
      if (!t.equal(error, undefined, `seed ${seed} on ${client}`)) return
      t.strictSame(warnings, [], `seed ${seed} on ${client}`)
      if (!t.strictSame(withoutInputs(told(messages)), withoutInputs(answerTold('msg-1', assemble(events))), `seed ${seed} on ${client}`)) return
    }
  }
})

t.test('a snapshot taken anywhere in a run, with the rest of the run after it, is the same messages', async (t) => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seeded(seed)
    const events = randomRun(random)
    const cut = 1 + Math.floor(random() * (events.length - 2))
    const shortened: RunEventBody[] = [started, { type: 'snapshot', parts: [...assemble(events.slice(0, cut))] }, ...events.slice(cut)]
    const client = agUiClients[seed % 2] ?? 'agui0'
    const { messages, error } = await foldAgUi(client, await encoded(shortened))
    t.equal(error, undefined, `seed ${seed} on ${client}, cut at ${cut}`)
    if (!t.strictSame(withoutInputs(told(messages)), withoutInputs(answerTold('msg-1', assemble(events))), `seed ${seed} on ${client}, cut at ${cut}`)) return
  }
})

t.test('a chat that is not stored has no thread to name', async (t) => {
  const { threadId, ...stateless } = started as RunEventBody & { threadId: string }
  const bytes = await encoded([stateless as RunEventBody, ended(), { type: 'run-completed' }])
  t.match(bytes, '{"type":"RUN_STARTED","threadId":"","runId":"run-1"}')
  for (const client of agUiClients) t.equal((await foldAgUi(client, bytes)).outcome, 'success', threadId)
})

t.test('a count of tokens that is none is not told, since clients would break off over it', async (t) => {
  const buckets = { input: 1.5, output: 1, reasoning: 0, cachedRead: 0, cacheWrite: 0 }
  const bytes = await encoded([started, { type: 'usage', model: 'odd', buckets }, { type: 'usage', model: 'even', buckets: { ...buckets, input: 2 } }, { type: 'run-completed' }])
  t.match(bytes, '"usage":[{"model":"even","inputTokens":2,')
  t.notMatch(bytes, '"model":"odd"')
  for (const client of agUiClients) t.equal((await foldAgUi(client, bytes)).outcome, 'success', client)
})

t.test('the first bytes go out before the first event, then one string per batch, and the end closes the source', async (t) => {
  let closed = false
  async function * source () {
    try {
      yield * inBatches(stamped([started, { type: 'message-end', finishReason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cachedRead: 0, cacheWrite: 0 } }, { type: 'run-completed' }]), 1)
      await new Promise(() => {})
    } finally { closed = true }
  }
  const writes: string[] = []
  for await (const frames of agUiProtocol.encode(source())) writes.push(frames)
  t.equal(writes[0], ': stream-open\n\n')
  t.equal(writes.length, 3, 'nothing is written for what says nothing here')
  t.ok(closed)
})

t.test('a stream that breaks in the middle does not end as if it were finished', async (t) => {
  const fault = new Error('the log went away')
  async function * broken () {
    yield stamped([started])
    throw fault
  }
  await t.rejects(readAll(encodeAgUi(broken())), fault)
  await t.rejects(readAll(encodeAgUi(inBatches(stamped([started])))), /without a terminal event/)
})

async function encoded (events: readonly RunEventBody[], options: AgUiOptions = {}, batchSize = 1): Promise<string> {
  return await readAll(encodeAgUi(inBatches(stamped(events), batchSize), options))
}

async function readAll (frames: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of frames) text += piece
  return text
}

/** What the random runs stream as arguments has nothing to do with what they end with. */
function withoutInputs (messages: ReturnType<typeof told>): unknown[] {
  return messages.map(({ calls = [], ...message }) => ({ ...message, calls: calls.map(({ id, name }) => ({ id, name })) }))
}
