import t from 'tap'
import { checkOrder } from '../../../../src/events/order.ts'
import { aiSdkProtocol } from '../../../../src/protocols/ai-sdk/encode.ts'
import { clientNames, foldStream, portableKeys, validateMessages, type ClientMessage } from '../../../helpers/ai-clients.ts'
import { asJson, assemble, encodeAll, ended, inBatches, stamped, started } from '../../../helpers/run-events.ts'
import { transcripts } from './transcripts.ts'
import type { RunEventBody } from '../../../../src/events/run-event.ts'

const member = [{ agentId: 'a2', name: 'helper', toolCallId: 'c1' }]

for (const { name, events, initialParts, wire, errors = [] } of transcripts) {
  t.test(`${name}: the bytes are these`, async (t) => {
    const { text } = await encodeAll(aiSdkProtocol, events, initialParts === undefined ? {} : { initialParts })
    t.equal(text, [': stream-open', ...wire.map((json) => `data: ${json}`), 'data: [DONE]'].map((line) => `${line}\n\n`).join(''))
    t.strictSame(checkOrder(events), [])
  })

  t.test(`${name}: every client shows what is stored`, async (t) => {
    const { text } = await encodeAll(aiSdkProtocol, events, { batchSize: 3, ...(initialParts === undefined ? {} : { initialParts }) })
    const stored = asJson(assemble(events, initialParts))
    const before = initialParts === undefined ? {} : { message: asJson({ id: 'msg-1', role: 'assistant', parts: initialParts }) as ClientMessage }
    for (const client of clientNames) {
      const folded = await foldStream(client, text, before)
      t.strictSame(asJson({ id: folded.message?.id, role: folded.message?.role, parts: folded.message?.parts }), { id: 'msg-1', role: 'assistant', parts: stored }, client)
      t.strictSame(folded.errors, errors, `${client}: errors`)
      t.strictSame(portableKeys(folded.chunks), [], `${client}: portable`)
      await t.resolves(validateMessages(client, [{ id: 'msg-1', role: 'assistant', parts: stored }]), `${client}: accepts the stored message`)
    }
  })
}

t.test('the first bytes go out before the first event, then one string per batch', async (t) => {
  const events: RunEventBody[] = [started, { type: 'step-start', step: 1 }, { type: 'usage', model: 'm', buckets: { input: 1, output: 1, reasoning: 0, cachedRead: 0, cacheWrite: 0 } }, { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }]
  const frames = aiSdkProtocol.encode(inBatches(stamped(events), 2))
  t.strictSame(await frames.next(), { done: false, value: ': stream-open\n\n' })
  const rest: string[] = []
  for await (const write of frames) rest.push(write)
  t.equal(rest.length, 3)
})

t.test('a stream that breaks in the middle does not end as if it were finished', async (t) => {
  const fault = new Error('the log went away')
  async function * broken () {
    yield stamped([started])
    throw fault
  }
  const seen: string[] = []
  await t.rejects(async () => { for await (const write of aiSdkProtocol.encode(broken())) seen.push(write) }, fault)
  await t.rejects(async () => { for await (const write of aiSdkProtocol.encode(inBatches(stamped([started])))) seen.push(write) }, /without a terminal event/)
  t.notMatch(seen.join(''), /\[DONE\]|finish/)
})

t.test('leaving early closes the source', async (t) => {
  let closed = false
  async function * source () {
    try { for (;;) yield stamped([started]) } finally { closed = true }
  }
  for await (const write of aiSdkProtocol.encode(source())) if (write.includes('start"')) break
  t.ok(closed)
})

t.test('calls of members say whose they are, delegations that hand over name their target', async (t) => {
  const events: RunEventBody[] = [
    started, { type: 'step-start', step: 1 },
    { type: 'tool-call-start', callId: 'c1', toolName: 'helper', handoff: 'helper' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'helper', input: { task: 'x' } },
    { type: 'tool-call-start', callId: 'c2', toolName: 'search', agentPath: member }, { type: 'tool-input-complete', callId: 'c2', toolName: 'search', input: {}, agentPath: member },
    { type: 'tool-output', callId: 'c2', output: 1, agentPath: member }, { type: 'tool-output', callId: 'c1', output: { handedOver: true } },
    { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
  ]
  const { text } = await encodeAll(aiSdkProtocol, events)
  const [step, handedOver, search] = assemble(events)
  t.equal(step?.type, 'step-start')
  t.match(handedOver, { callProviderMetadata: { parley: { handoff: 'helper' } } })
  t.match(search, { callProviderMetadata: { parley: { agent: 'helper', agentPath: member, parentToolCallId: 'c1' } } })
  for (const client of clientNames) t.strictSame((await foldStream(client, text)).message?.parts, asJson(assemble(events)), client)
})

t.test('approvals and denials are chunks that ai 6 and 7 know', async (t) => {
  const events: RunEventBody[] = [
    started, { type: 'step-start', step: 1 },
    { type: 'tool-call-start', callId: 'c1', toolName: 'wipe' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'wipe', input: {} },
    { type: 'tool-call-start', callId: 'c2', toolName: 'wipe' }, { type: 'tool-input-complete', callId: 'c2', toolName: 'wipe', input: {} },
    { type: 'approval-requested', approvalId: 'ap1', callId: 'c1', expiresAt: '2026-01-03T00:00:00.000Z' }, { type: 'approval-requested', approvalId: 'ap2', callId: 'c2', expiresAt: '2026-01-03T00:00:00.000Z' },
    { type: 'tool-denied', callId: 'c2', reason: 'no' },
    { type: 'step-end', step: 1 }, ended('tool-calls'), { type: 'run-suspended', approvals: ['ap1'], pendingCalls: [] }
  ]
  t.strictSame(checkOrder(events), [])
  const { text } = await encodeAll(aiSdkProtocol, events)
  // Who gave the verdict has it already; the wire does not tell it.
  const parts = asJson(assemble(events)).map((part) => 'approval' in part ? { ...part, approval: { id: part.approval?.id } } : part)
  for (const client of ['ai6', 'ai7'] as const) t.strictSame((await foldStream(client, text)).message?.parts, parts, client)
})

t.test('keys that reach a prototype never get to a client, which would refuse the stream over them', async (t) => {
  const input: unknown = JSON.parse('{"a":1,"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}')
  const events: RunEventBody[] = [
    started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'x' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'x', input }, { type: 'tool-output', callId: 'c1', output: [input] },
    { type: 'tool-call-start', callId: 'c2', toolName: 'x' }, { type: 'tool-input-invalid', callId: 'c2', toolName: 'x', input, message: 'Wrong.' },
    { type: 'data', name: 'x', data: input }, { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
  ]
  const { text } = await encodeAll(aiSdkProtocol, events)
  for (const client of clientNames) t.strictSame((await foldStream(client, text)).message?.parts, asJson(assemble(events)), client)
})

t.test('what the caller knows of the message is added to its metadata', async (t) => {
  const { text } = await encodeAll(aiSdkProtocol, [started, { type: 'message-end', finishReason: 'length', usage: { input: 1, output: 2, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, costUsd: 0.5 }, { type: 'run-completed' }], { metadata: { createdAt: '2025-01-01T00:00:00.000Z' } })
  t.match((await foldStream('ai6', text)).message?.metadata, { createdAt: '2025-01-01T00:00:00.000Z', status: 'completed', finishReason: 'length', costUsd: 0.5, usage: { output: 2 } })
})

t.test('a run that broke off tells what its calls cost, where all of that is known', async (t) => {
  const usage = (costUsd?: number): RunEventBody => ({ type: 'usage', model: 'test:model', buckets: { input: 1, output: 2, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, ...(costUsd === undefined ? {} : { costUsd }) })
  const metadataOf = async (...calls: RunEventBody[]) => (await foldStream('ai6', (await encodeAll(aiSdkProtocol, [started, ...calls, { type: 'run-stopped', reason: 'user' }])).text)).message?.metadata
  t.match(await metadataOf(usage(0.1), usage(0.2)), { usage: { input: 2 }, costUsd: 0.3 })
  t.match(await metadataOf(usage(0.1), usage()), { usage: { input: 2 }, costUsd: undefined })
})

t.test('the reply says which protocol it is', async (t) => {
  t.match(aiSdkProtocol, { name: 'ai-sdk', headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', 'x-vercel-ai-ui-message-stream': 'v1' } })
})
