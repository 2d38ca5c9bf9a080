import { AsyncLocalStorage } from 'node:async_hooks'
import type { MessagePart } from '../../src/messages/parts.ts'
import { getJson } from './app.ts'

/** The published clients of AG-UI whose wire we speak, behind one small type, loaded by name as in ai-clients.ts. */
export const agUiClients = ['agui0', 'agui1'] as const
export type AgUiClient = typeof agUiClients[number]

export interface AgUiMessage {
  readonly id: string
  readonly role: string
  readonly content?: unknown
  readonly toolCallId?: string
  readonly toolCalls?: ReadonlyArray<{ readonly id: string, readonly function: { readonly name: string, readonly arguments: string }, readonly metadata?: unknown }>
  readonly error?: string
  readonly metadata?: unknown
}

export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>

/** A conversation as clients of AG-UI hold one. */
export interface HttpAgent {
  threadId: string
  messages: AgUiMessage[]
  readonly pendingInterrupts: readonly object[]
  addMessage: (message: AgUiMessage) => void
  setMessages: (messages: readonly AgUiMessage[]) => void
  runAgent: (parameters?: { runId?: string, tools?: readonly object[], forwardedProps?: object, resume?: readonly object[] }, subscriber?: Subscriber) => Promise<{ newMessages: AgUiMessage[] }>
  abortRun: () => void
}

export interface Subscriber {
  readonly onEvent?: (params: { event: AgUiEvent }) => void
  readonly onRunFinishedEvent?: (params: { outcome: string, interrupts?: readonly object[], pendingToolCallIds?: readonly string[] }) => void
  readonly onRunFailed?: (params: { error: Error & { status?: number, payload?: unknown } }) => void
}

interface ClientPackage {
  readonly HttpAgent: new (options: { url: string, threadId: string, fetch?: typeof fetch, initialMessages?: readonly AgUiMessage[] }) => HttpAgent
}

export interface LiveAgent {
  readonly agent: HttpAgent
  /** Adds a message of the user and runs. */
  say: (content: unknown, id?: string) => Promise<RunEnd>
  /** Adds what a tool of the client said and runs. */
  answer: (toolCallId: string, content: unknown, more?: object) => Promise<RunEnd>
  run: (parameters?: Parameters<HttpAgent['runAgent']>[0]) => Promise<RunEnd>
}

/** What the client made of a run. */
export interface RunEnd {
  readonly events: readonly AgUiEvent[]
  /** As it reads RUN_FINISHED. */
  readonly outcome: string | undefined
  readonly pendingToolCallIds: readonly string[] | undefined
  /** What it threw. */
  readonly error: (Error & { status?: number, payload?: unknown }) | undefined
  /** What it found wrong and went on without. */
  readonly warnings: readonly string[]
}

let written = 0

export async function openAgent (client: AgUiClient, { url }: { url: string }, threadId: string, key = 'tester'): Promise<LiveAgent> {
  const { HttpAgent } = await load(client)
  const agent = new HttpAgent({ url: `${url}/v1/agents/${key}/ag-ui`, threadId })
  const run: LiveAgent['run'] = (parameters) => observe(agent, parameters)
  return {
    agent, run,
    async say (content, id = `question-${++written}`) {
      agent.addMessage({ id, role: 'user', content })
      return await run()
    },
    async answer (toolCallId, content, more = {}) {
      agent.addMessage({ id: `answer-${++written}`, role: 'tool', toolCallId, content, ...more })
      return await run()
    }
  }
}

/** Reads the bytes of a reply as a client does: checked, verified and folded by its own code. */
export async function foldAgUi (client: AgUiClient, bytes: string, initialMessages: readonly AgUiMessage[] = []): Promise<RunEnd & { readonly messages: readonly AgUiMessage[] }> {
  const { HttpAgent } = await load(client)
  const respond = async () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
  const agent = new HttpAgent({ url: 'http://127.0.0.1/', threadId: 'thread-1', fetch: respond, initialMessages })
  const end = await observe(agent, {})
  return { ...end, messages: agent.messages }
}

async function observe (agent: HttpAgent, parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<RunEnd> {
  const events: AgUiEvent[] = []
  const warnings: string[] = []
  let outcome: string | undefined
  let pendingToolCallIds: readonly string[] | undefined
  let error: RunEnd['error']
  const subscriber: Subscriber = {
    onEvent: ({ event }) => { events.push(event) },
    onRunFinishedEvent: (params) => { ({ outcome, pendingToolCallIds } = params) },
    onRunFailed: (params) => { error = params.error }
  }
  await heard.run(warnings, () => agent.runAgent(parameters, subscriber).catch((thrown: Error) => { error ??= thrown }))
  return { events, outcome, pendingToolCallIds, error, warnings }
}

/** The warnings of the run that is being made; runs may be made side by side. */
const heard = new AsyncLocalStorage<string[]>()
const { error: tellError, warn: tellWarning } = console
// Clients also write what they throw to the console.
console.error = (...words) => { if (heard.getStore() === undefined) tellError(...words) }
console.warn = (...words) => {
  const warnings = heard.getStore()
  if (warnings === undefined) tellWarning(...words)
  else warnings.push(words.join(' '))
}

/** A client's messages as far as both vocabularies have words for them. */
export function told (messages: readonly AgUiMessage[]): Told[] {
  return inCallOrder(messages.map(({ id, role, content, toolCallId, toolCalls = [] }) => {
    if (role === 'tool') return { role, toolCallId, content }
    const calls = toolCalls.map(({ id, function: { name, arguments: text } }) => ({ id, name, input: parsed(text) }))
    return { id, role, content: content ?? '', calls }
  }))
}

/** A thread's history in the words of `told`: what a client of AG-UI would hold of it. */
export async function historyTold (url: string, threadId: string): Promise<Told[]> {
  const { items } = await getJson(`${url}/v1/threads/${threadId}/messages?limit=100`) as { items: Array<{ id: string, role: string, parts: MessagePart[] }> }
  return items.flatMap(({ id, role, parts }) => role === 'user'
    ? [{ id, role, content: parts.map((part) => part.type === 'text' ? part.text : '').join(''), calls: [] }]
    : answerTold(id, parts))
}

/** The messages of one answer. Written from what the protocol says of messages, and not from our encoder. */
export function answerTold (id: string, parts: readonly MessagePart[]): Told[] {
  const messages: Told[] = []
  let spoken = 0
  let thought = 0
  let current: { readonly message: Told, calls: CallTold[], results: number } | undefined
  for (const part of parts) {
    if (part.type === 'step-start') current = undefined
    else if (part.type === 'text') speak(part.text)
    else if (part.type === 'reasoning') messages.push({ id: `${id}:reasoning:${++thought}`, role: 'reasoning', content: part.text, calls: [] })
    else if ('toolCallId' in part) {
      const holder = current ?? speak('')
      const { toolCallId, input, state, errorText, output } = part
      holder.calls.push({ id: toolCallId, name: part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length), input })
      if (state === 'input-available' || state === 'approval-requested') continue
      const content = state === 'output-denied' ? 'Denied.' : state === 'output-error' ? errorText : typeof output === 'string' ? output : JSON.stringify(output)
      // Right behind the message of the call, wherever the result came.
      messages.splice(messages.indexOf(holder.message) + 1 + holder.results++, 0, { role: 'tool', toolCallId, content })
    }
  }
  return inCallOrder(messages)

  function speak (content: string) {
    const calls: CallTold[] = []
    const message: Told = { id: ++spoken === 1 ? id : `${id}:${spoken}`, role: 'assistant', content, calls }
    messages.push(message)
    current = { message, calls, results: 0 }
    return current
  }
}

export function textsOf (messages: readonly AgUiMessage[]): unknown[] {
  return messages.filter(({ role, content }) => (role === 'user' || role === 'assistant') && content !== undefined && content !== '').map(({ content }) => content)
}

export function typesOf (events: readonly AgUiEvent[]): string[] {
  return events.map(({ type }) => type)
}

interface CallTold { readonly id: string, readonly name: string, readonly input: unknown }
export interface Told { readonly role: string, readonly content: unknown, readonly id?: string, readonly toolCallId?: string | undefined, readonly calls?: readonly CallTold[] }

/** Results of one message's calls come in any order; which is no difference. */
function inCallOrder (messages: readonly Told[]): Told[] {
  const groups: Told[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.role === 'tool' && last?.[0]?.role === 'tool') last.push(message)
    else groups.push([message])
  }
  return groups.flatMap((group) => group.sort((a, b) => String(a.toolCallId).localeCompare(String(b.toolCallId))))
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function load (client: AgUiClient): Promise<ClientPackage> {
  return await import(client) // an untyped import: the shape is the interface above
}
