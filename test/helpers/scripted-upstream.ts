import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { createModelRegistry, providerSchema } from '../../src/models/providers.ts'
import type { ModelRegistry } from '../../src/agents/registry.ts'
import { startUpstream } from './upstream.ts'

/** What a model says: text, then calls, then no end where it hangs. */
export interface UpstreamAnswer {
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly id: string, readonly name: string, readonly input?: unknown }>
  readonly hang?: true
  /** Tokens it says it took; 10 and 5 where it does not matter. */
  readonly took?: { readonly input: number, readonly output: number }
}

export interface UpstreamCall {
  readonly model: string
  readonly messages: ReadonlyArray<{ readonly role: string, readonly content?: string | null, readonly tool_calls?: readonly object[] }>
  readonly tools: readonly string[]
  /** `closed`: by the client, before the answer was complete. */
  state: 'open' | 'answered' | 'closed'
}

export interface ScriptedUpstream {
  readonly baseURL: string
  /** All calls, in order. */
  readonly calls: readonly UpstreamCall[]
  readonly askedOf: (model: string) => readonly UpstreamCall[]
  /** A model of the script for each of its names, as `script:<name>`. */
  readonly models: ModelRegistry
}

/**
 * A provider over HTTP that answers by the name of the model: with the answer of its list that comes after as many steps
 * with calls as the conversation has since its last question. So a call that is made again is answered the same, also in
 * another process.
 */
export async function startScriptedUpstream (t: Test, scripts: Readonly<Record<string, readonly UpstreamAnswer[]>>): Promise<ScriptedUpstream> {
  const calls: UpstreamCall[] = []
  const { baseURL } = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const { model, messages, tools = [] } = JSON.parse(body)
    const call: UpstreamCall = { model, messages, tools: tools.map((tool: { function: { name: string } }) => tool.function.name), state: 'open' }
    calls.push(call)
    response.on('close', () => { if (call.state === 'open') call.state = 'closed' })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    const answers = scripts[model] ?? []
    answer(response, answers[Math.min(stepsSinceQuestion(call), answers.length - 1)] ?? {}, () => { call.state = 'answered' })
  })
  const provider = providerSchema.parse({ baseURL, apiKeyEnv: 'SCRIPT_KEY' })
  const models = createModelRegistry({ providers: { script: provider }, defaultModel: 'script:root', env: { SCRIPT_KEY: 'key' } })
  return { baseURL, calls, models, askedOf: (name) => calls.filter(({ model }) => model === name) }
}

function stepsSinceQuestion ({ messages }: UpstreamCall): number {
  const question = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(question + 1).filter((message) => message.tool_calls !== undefined).length
}

function answer (response: ServerResponse, { text, calls = [], hang, took = { input: 10, output: 5 } }: UpstreamAnswer, onEnd: () => void): void {
  const say = (delta: object, end: string | null = null) => { response.write(frame({ choices: [{ index: 0, delta, finish_reason: end }] })) }
  if (text !== undefined) say({ content: text })
  calls.forEach(({ id, name, input = {} }, index) => { say({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }] }) })
  if (hang === true) return
  say({}, calls.length > 0 ? 'tool_calls' : 'stop')
  response.write(frame({ choices: [], usage: { prompt_tokens: took.input, completion_tokens: took.output, total_tokens: took.input + took.output } }))
  onEnd()
  response.end('data: [DONE]\n\n')
}

function frame (chunk: object): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', ...chunk })}\n\n`
}
