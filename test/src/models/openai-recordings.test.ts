import { readdirSync } from 'node:fs'
import t from 'tap'
import type { ModelEvent } from '../../../src/models/model.ts'
import { createChatAnswer } from '../../../src/models/openai-chat-answer.ts'
import { createOpenAIChatModel } from '../../../src/models/openai-chat.ts'
import { createOpenAIClient } from '../../../src/models/openai-client.ts'
import { readRecording, recordingBytes, startUpstream } from '../../helpers/upstream.ts'

const recordings = readdirSync(new URL('../../fixtures/provider-streams/', import.meta.url)).filter((file) => file.endsWith('.jsonl')).map((file) => file.replace('.jsonl', ''))

for (const name of recordings) {
  t.test(`everything the recorded stream ${name} holds comes out of the model`, async (t) => {
    const { baseURL } = await startUpstream(t, name)
    const model = createOpenAIChatModel({ id: 'test:m', modelName: 'm', client: createOpenAIClient({ baseURL, apiKey: 'k' }) })
    const events: ModelEvent[] = []
    const request = { instructions: '', messages: [{ role: 'user' as const, content: 'x' }], tools: [], toolChoice: 'auto' as const, settings: {} }
    for await (const batch of model.generate(request, { signal: new AbortController().signal })) events.push(...batch)
    t.strictSame(summary(events), expected(name))
  })
}

for (const name of ['mistral-reasoning', 'moonshotai', 'azure-model-router']) {
  t.test(`the recorded stream ${name} is read the same wherever its bytes are cut`, async (t) => {
    const bytes = recordingBytes(name)
    const wanted = JSON.stringify(expected(name))
    const wrong = []
    for (let at = 1; at < bytes.length; at++) {
      if (JSON.stringify(summary(read([bytes.subarray(0, at), bytes.subarray(at)]))) !== wanted) wrong.push(at)
    }
    t.strictSame(wrong, [])
    t.equal(JSON.stringify(summary(read([...bytes].map((byte) => Uint8Array.of(byte))))), wanted, 'byte by byte')
  })
}

function read (chunks: readonly Uint8Array[]): ModelEvent[] {
  const answer = createChatAnswer({ contentType: 'text/event-stream', estimate: () => { throw new Error('the recording has usage') } })
  const events: ModelEvent[] = []
  for (const chunk of chunks) answer.push(chunk, events)
  if (!answer.over()) answer.end(events)
  return events
}

function summary (events: readonly ModelEvent[]) {
  const of = <T extends ModelEvent['type']>(type: T) => events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type)
  const calls = of('tool-call')
  return {
    text: of('text-delta').map(({ delta }) => delta).join(''),
    reasoning: of('reasoning-delta').map(({ delta }) => delta).join(''),
    calls: calls.map((call) => [call.callId, call.toolName, call.arguments]),
    streamed: calls.map(({ callId }) => of('tool-input-delta').filter((event) => event.callId === callId).map(({ delta }) => delta).join('')),
    finish: events.at(-1),
    usage: of('usage')
  }
}

/** What the recording holds, read from its lines without any code under test. */
function expected (name: string) {
  const chunks = readRecording(name).map((line) => JSON.parse(line))
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const parts = choices.flatMap(({ delta: { content } }) => Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }])
  const thoughts = parts.flatMap((part) => part.type === 'thinking' ? part.thinking : [])
  const entries = choices.flatMap(({ delta }) => delta.tool_calls ?? [])
  const heads = entries.filter((entry) => entry.id !== undefined)
  const args = heads.map(({ index }) => entries.filter((entry) => entry.index === index).map((entry) => entry.function.arguments).join(''))
  const usage = chunks.findLast((chunk) => chunk.usage != null).usage
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0
  const reason = choices.findLast((choice) => choice.finish_reason != null).finish_reason
  return {
    text: parts.map((part) => part.type === 'text' ? part.text : '').join(''),
    reasoning: choices.map(({ delta }) => delta.reasoning_content ?? '').join('') + thoughts.map((part) => part.text).join(''),
    calls: heads.map((head, at) => [head.id, head.function.name, args[at]]),
    streamed: args,
    finish: { type: 'finish', reason: reason === 'tool_calls' ? 'tool-calls' : reason },
    usage: [{
      type: 'usage',
      usage: {
        input: usage.prompt_tokens,
        output: usage.total_tokens - usage.prompt_tokens,
        reasoning,
        cachedRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
        cacheWrite: 0
      },
      estimated: false
    }]
  }
}
