import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createModelRegistry, providerSchema } from '../../src/models/providers.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { foldStream, type ClientMessage } from '../helpers/ai-clients.ts'
import { getJson, post, startApp } from '../helpers/app.ts'
import { testDatabaseUrl } from '../helpers/databases.ts'
import { readRecording, recordingBytes, replay } from '../helpers/upstream.ts'
import { newThreadId } from './case-service.ts'

const names = readdirSync(new URL('../fixtures/provider-streams/', import.meta.url)).filter((file) => file.endsWith('.jsonl')).map((file) => file.replace('.jsonl', ''))
const afterTools = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"AFTER-TOOL"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}\n\ndata: [DONE]\n\n')

for (const name of names) {
  t.test(`everything the recorded stream ${name} holds reaches the client and stays`, async (t) => {
    const { ask } = await startReplay(t, name)
    const answer = await ask(replay(recordingBytes(name)))
    t.strictSame(answer, expected(name))
  })
}

for (const name of ['deepseek-tool-call', 'mistral-text', 'openai-text']) {
  t.test(`the recorded stream ${name} comes through the same in pieces`, async (t) => {
    const { ask } = await startReplay(t, name)
    const { length } = recordingBytes(name)
    for (const pieces of [2, 3, 7, 50, 333]) {
      const splitAt = Array.from({ length: pieces - 1 }, (_, n) => Math.floor((n + 1) * length / pieces))
      t.strictSame(await ask(replay(recordingBytes(name), { splitAt })), expected(name), `${pieces} pieces`)
    }
  })
}

t.test('the smallest recorded stream comes through the same wherever its bytes are cut on the way', async (t) => {
  const [name = ''] = [...names].sort((a, b) => recordingBytes(a).length - recordingBytes(b).length)
  // As many turns as bytes, and none of them is about the database.
  const { ask } = await startReplay(t, name, await testDatabaseUrl(t, 'sqlite'))
  const bytes = recordingBytes(name)
  const wanted = JSON.stringify(expected(name))
  const wrong = []
  for (let at = 1; at < bytes.length; at++) {
    if (JSON.stringify(await ask(replay(bytes, { splitAt: [at] }))) !== wanted) wrong.push(at)
  }
  t.strictSame(wrong, [])
})

/** The service in front of an upstream that answers as it is told, and with a short text once tools have run. */
async function startReplay (t: Test, name: string, databaseUrl?: string): Promise<{ ask: (upstream: RequestListener) => Promise<unknown> }> {
  let answering: RequestListener = replay(afterTools)
  let asked = 0
  const server = createServer((request, response) => { (asked++ === 0 ? answering : replay(afterTools))(request, response) })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const tools = expected(name).calls.map(({ name }) => defineTool({ name, input: { type: 'object' }, execute: () => 'a result' }))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const models = createModelRegistry({ providers: { replay: providerSchema.parse({ baseURL }) }, defaultModel: 'replay:recorded', env: {} })
  const { url } = await startApp(t, { models, agents: [{ key: 'tester', tools }], ...(databaseUrl === undefined ? {} : { databaseUrl }) })
  return { ask }

  async function ask (upstream: RequestListener) {
    answering = upstream
    asked = 0
    const threadId = newThreadId()
    const { body } = await post(`${url}/v1/threads/${threadId}/messages`, { text: 'Go' })
    const { message: live } = await foldStream('ai6', body)
    const { items: [, stored] } = await getJson(`${url}/v1/threads/${threadId}/messages`)
    if (live === undefined) throw new Error('There is no answer')
    t.strictSame({ id: stored.id, role: stored.role, parts: stored.parts }, { id: live.id, role: live.role, parts: live.parts }, 'a reload shows what was live')
    t.strictSame({ ...live.metadata as object, siblings: 1, createdAt: '' }, { ...stored.metadata, createdAt: '' }, 'and says the same about it')
    return summary(stored, body)
  }
}

function summary ({ parts, metadata }: ClientMessage, body: string) {
  const texts = (type: string) => parts.filter((part) => part.type === type).map((part) => part['text']).join('')
  const { status, finishReason, usage } = metadata as Record<string, unknown>
  const calls = parts.filter(({ type }) => type.startsWith('tool-'))
  return {
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: calls.map((part) => ({ id: part['toolCallId'], name: part.type.slice('tool-'.length), input: part['input'] })),
    results: calls.map((part) => part['output']),
    failed: /"type":"(error|data-error)"/.test(body),
    status,
    finishReason,
    usage
  }
}

/** What the recording holds, read from its lines without any code under test. */
function expected (name: string) {
  const chunks = readRecording(name).map((line) => JSON.parse(line))
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const contents = choices.flatMap(({ delta: { content } }) => Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }])
  const thoughts = contents.flatMap((part) => part.type === 'thinking' ? part.thinking : [])
  const entries = choices.flatMap(({ delta }) => delta.tool_calls ?? [])
  const calls = entries.filter((entry) => entry.id !== undefined).map(({ id, index, function: { name } }): { id: string, name: string, input: unknown } => ({
    id, name, input: JSON.parse(entries.filter((entry) => entry.index === index).map((entry) => entry.function.arguments).join(''))
  }))
  const usage = chunks.findLast((chunk) => chunk.usage != null).usage
  const called = calls.length > 0
  return {
    text: contents.map((part) => part.type === 'text' ? part.text : '').join('') + (called ? 'AFTER-TOOL' : ''),
    reasoning: choices.map(({ delta }) => delta.reasoning_content ?? '').join('') + thoughts.map((part) => part.text).join(''),
    calls,
    results: calls.map(() => 'a result'),
    failed: false,
    status: 'completed',
    finishReason: called ? 'stop' : choices.findLast((choice) => choice.finish_reason != null).finish_reason,
    usage: {
      input: usage.prompt_tokens + (called ? 1_000 : 0),
      output: usage.total_tokens - usage.prompt_tokens + (called ? 100 : 0),
      reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      cachedRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
      cacheWrite: 0
    }
  }
}
