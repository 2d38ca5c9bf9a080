import t from 'tap'
import { createChatAnswer } from '../../../src/models/openai-chat-answer.ts'
import { createOpenAIClient } from '../../../src/models/openai-client.ts'
import { createResponseReader } from '../../../src/models/openai-response-reader.ts'
import { createOpenAIResponsesModel } from '../../../src/models/openai-responses.ts'
import type { ModelEvent } from '../../../src/models/model.ts'
import { callsOf, eventsOf, hear, reasoningOf, textOf } from '../../helpers/chat-events.ts'
import { readResponses, responseRecordings, type RecordedResponse } from '../../helpers/responses.ts'
import { replay, startUpstream } from '../../helpers/upstream.ts'

const request = { instructions: '', messages: [{ role: 'user' as const, content: 'x' }], tools: [], toolChoice: 'auto' as const, settings: {} }

for (const name of responseRecordings) {
  t.test(`everything the recorded responses ${name} hold comes out of the model`, async (t) => {
    for (const recorded of readResponses(name)) {
      const { baseURL } = await startUpstream(t, replay(recorded.bytes))
      const model = createOpenAIResponsesModel({ id: 'test:m', modelName: 'm', client: createOpenAIClient({ baseURL, apiKey: 'k' }) })
      const { events, error } = await hear(model.generate(request, { signal: new AbortController().signal }))
      if (recorded.error === undefined) t.strictSame(summary(events), expected(recorded))
      else t.match({ events, error }, { events: [], error: { code: 'configuration_error' } }, recorded.error)
    }
  })
}

for (const name of ['azure-tool-call', 'openai-phase']) {
  t.test(`the recorded responses ${name} are read the same wherever their bytes are cut`, async (t) => {
    for (const recorded of readResponses(name)) {
      const wanted = JSON.stringify(expected(recorded))
      const { bytes } = recorded
      const wrong = []
      for (let at = 1; at < bytes.length; at++) {
        if (JSON.stringify(summary(read([bytes.subarray(0, at), bytes.subarray(at)]))) !== wanted) wrong.push(at)
      }
      t.strictSame(wrong, [])
      t.equal(JSON.stringify(summary(read([...bytes].map((byte) => Uint8Array.of(byte))))), wanted, 'byte by byte')
    }
  })
}

t.test('the two messages of a response are two blocks of text', async (t) => {
  const [recorded] = readResponses('openai-phase')
  const kinds = read([recorded?.bytes ?? Buffer.from('')]).map(({ type }) => type).filter((type) => type === 'text-delta' || type === 'block-end')
  t.strictSame(kinds, ['text-delta', 'text-delta', 'block-end', 'text-delta', 'text-delta', 'block-end'])
})

function read (chunks: readonly Uint8Array[]): ModelEvent[] {
  const estimate = () => { throw new Error('the recording has usage') }
  const answer = createChatAnswer({ contentType: 'text/event-stream', estimate, createReader: (options) => createResponseReader({ ...options, modelId: 'test:m' }) })
  const events: ModelEvent[] = []
  for (const chunk of chunks) answer.push(chunk, events)
  if (!answer.over()) answer.end(events)
  return events
}

function summary (events: readonly ModelEvent[]) {
  const deltas = eventsOf(events, 'tool-input-delta')
  return {
    text: textOf(events),
    reasoning: reasoningOf(events),
    encrypted: eventsOf(events, 'block-end').flatMap(({ key }) => key === undefined ? [] : [key.encryptedContent]),
    calls: callsOf(events),
    streamed: callsOf(events).map(({ id }) => deltas.filter(({ callId }) => callId === id).map(({ delta }) => delta).join('')),
    usage: eventsOf(events, 'usage').map(({ usage }) => usage),
    last: events.at(-1)
  }
}

function expected ({ text, reasoning, encrypted, calls, usage }: RecordedResponse): ReturnType<typeof summary> {
  return {
    text,
    reasoning,
    encrypted: [...encrypted],
    calls: calls.map((call) => ({ ...call, complete: true })),
    streamed: calls.map((call) => call.arguments),
    usage: usage === undefined ? [] : [usage],
    last: { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop' }
  }
}
