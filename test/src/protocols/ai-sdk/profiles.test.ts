import t from 'tap'
import type { RunEventBody } from '../../../../src/events/run-event.ts'
import type { WireProfile } from '../../../../src/messages/wire.ts'
import { aiSdkProtocol } from '../../../../src/protocols/ai-sdk/encode.ts'
import { clientNames, foldStream, portableKeys, readChunks, type Chunk, type ClientMessage, type ClientName } from '../../../helpers/ai-clients.ts'
import { randomRun, seeded } from '../../../helpers/random-run.ts'
import { asJson, assemble, encodeAll, ended, started } from '../../../helpers/run-events.ts'

const member = [{ agentId: 'a2', name: 'helper', toolCallId: 'c1' }]
const waiting: readonly RunEventBody[] = [
  started, { type: 'step-start', step: 1 },
  { type: 'tool-call-start', callId: 'c1', toolName: 'wipe', title: 'Wipe' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'wipe', input: { all: true } },
  { type: 'tool-call-start', callId: 'c2', toolName: 'wipe' }, { type: 'tool-input-complete', callId: 'c2', toolName: 'wipe', input: {} },
  { type: 'tool-call-start', callId: 'c3', toolName: 'remote', dynamic: true }, { type: 'tool-input-complete', callId: 'c3', toolName: 'remote', input: {} },
  { type: 'approval-requested', approvalId: 'ap1', callId: 'c1', expiresAt: '2026-01-03T00:00:00.000Z' },
  { type: 'tool-denied', callId: 'c2', reason: 'not today' }, { type: 'tool-denied', callId: 'c3' },
  { type: 'step-end', step: 1 }, ended('tool-calls'), { type: 'run-suspended', approvals: ['ap1'], pendingCalls: [] }
]

t.test('the full profile tells titles, whose a call is from its start, and why a run was stopped', async (t) => {
  const events: RunEventBody[] = [
    started, { type: 'step-start', step: 1 },
    { type: 'tool-call-start', callId: 'c1', toolName: 'helper', title: 'Helper', handoff: 'helper' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'helper', input: {} },
    { type: 'tool-call-start', callId: 'c2', toolName: 'search', agentPath: member }, { type: 'tool-input-complete', callId: 'c2', toolName: 'search', input: {}, agentPath: member },
    { type: 'tool-output', callId: 'c2', output: 1, agentPath: member }, { type: 'tool-output', callId: 'c1', output: 2 }, { type: 'run-stopped', reason: 'stopped by the user' }
  ]
  const { text } = await encodeAll(aiSdkProtocol, events, { profile: 'full' })
  const of = (chunks: readonly Chunk[], type: string) => chunks.filter((chunk) => chunk.type === type)
  for (const client of clientNames) {
    const { chunks, message } = await foldStream(client, text)
    t.match(of(chunks, 'tool-input-start'), [{ title: 'Helper', providerMetadata: { parley: { handoff: 'helper' } } }, { providerMetadata: { parley: { agent: 'helper', parentToolCallId: 'c1' } } }], client)
    t.match(of(chunks, 'tool-input-available'), [{ title: 'Helper' }, { toolCallId: 'c2' }], client)
    t.match(of(chunks, 'abort'), [{ reason: 'stopped by the user' }], client)
    const shown = message?.parts.map(withoutTitle)
    t.strictSame(asJson(shown), asJson(assemble(events)), `${client}: but for titles, what is stored`)
  }
  const portable = await readChunks('ai6', (await encodeAll(aiSdkProtocol, events)).text)
  t.strictSame(portableKeys(portable), [], 'the portable profile has none of it')
})

t.test('in the profile of version 5 a call that waits is data, and a denied call has failed', async (t) => {
  const chunks = await readChunks('ai5', (await encodeAll(aiSdkProtocol, waiting, { profile: 'v5' })).text)
  t.strictSame(portableKeys(chunks), [])
  t.notOk(chunks.some(({ type }) => type === 'tool-approval-request' || type === 'tool-output-denied'))
  t.strictSame(chunks.filter(({ type }) => type === 'data-approval' || type === 'tool-output-error'), [
    { type: 'data-approval', id: 'ap1', data: { approvalId: 'ap1', toolCallId: 'c1', expiresAt: '2026-01-03T00:00:00.000Z' } },
    { type: 'tool-output-error', toolCallId: 'c2', errorText: 'Denied: not today' },
    { type: 'tool-output-error', toolCallId: 'c3', errorText: 'Denied.', dynamic: true }
  ])
})

t.test('what version 5 makes of its profile can be shown and told again', async (t) => {
  for (const client of clientNames) {
    const { message, errors } = await foldStream(client, (await encodeAll(aiSdkProtocol, waiting, { profile: 'v5' })).text)
    t.strictSame(errors, [], client)
    t.match(message?.parts.filter(({ type }) => type !== 'step-start').map(({ type, state }) => [type, state]), [['tool-wipe', 'input-available'], ['tool-wipe', 'output-error'], ['dynamic-tool', 'output-error'], ['data-approval', undefined]], client)
  }
})

t.test('a snapshot in the profile of version 5 speaks of approvals the same way', async (t) => {
  const parts = [...assemble(waiting)]
  const { text } = await encodeAll(aiSdkProtocol, [started, { type: 'snapshot', parts }, ended('tool-calls'), { type: 'run-suspended', approvals: ['ap1'], pendingCalls: [] }], { profile: 'v5' })
  const chunks = await readChunks('ai5', text)
  t.match(chunks.filter(({ type }) => type === 'data-approval'), [{ id: 'ap1', data: { approvalId: 'ap1', toolCallId: 'c1' } }])
  t.equal(chunks.filter(({ type }) => type === 'tool-output-error').length, 2)
})

t.test('whatever a run does, each profile is understood by the clients it is for', async (t) => {
  const clients: Readonly<Record<WireProfile, readonly ClientName[]>> = { portable: clientNames, full: clientNames, v5: ['ai5'] }
  for (let seed = 100; seed < 120; seed++) {
    const events = randomRun(seeded(seed))
    for (const [profile, names] of Object.entries(clients) as Array<[WireProfile, readonly ClientName[]]>) {
      const { text } = await encodeAll(aiSdkProtocol, events, { profile })
      for (const client of names) {
        const { message } = await foldStream(client, text)
        const shown = message?.parts.map(withoutTitle)
        if (!t.strictSame(asJson(shown), asJson(assemble(events)), `seed ${seed}, ${profile} on ${client}`)) return
      }
    }
  }
})

/** Titles of calls are shown live and not stored. */
function withoutTitle ({ title, ...part }: ClientMessage['parts'][number]): object {
  return 'toolCallId' in part || title === undefined ? part : { ...part, title }
}
