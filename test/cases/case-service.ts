import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import pino from 'pino'
import type { Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../src/agents/agent.ts'
import { loggerOptions } from '../../src/logging.ts'
import { createModelRegistry, providerSchema } from '../../src/models/providers.ts'
import { defineTool, type Tool } from '../../src/tools/tool.ts'
import { foldStream, type ClientMessage } from '../helpers/ai-clients.ts'
import { getJson, post, startApp, until, type Streamed, type TestApp } from '../helpers/app.ts'
import type { CasesUpstream, LoggedRequest } from '../helpers/upstream.ts'

export const controlCase = 'S00'
export const upstreamKey = 'sk-test-BEARERSECRETSECRET'

export interface CaseService extends TestApp {
  readonly upstream: CasesUpstream
  /** Everything the service logged, as lines of JSON. */
  readonly logged: () => string
  readonly ask: (threadId: string, text: string, body?: object) => Promise<Streamed>
  /** The thread as a reload shows it. */
  readonly history: (threadId: string, query?: string) => Promise<HistoryMessage[]>
  readonly stop: (threadId: string) => Promise<Streamed>
  /** Requests the upstream saw with their messages in readable form. */
  readonly requests: () => Promise<UpstreamRequest[]>
}

export interface HistoryMessage extends ClientMessage {
  readonly metadata: { readonly status: string, readonly finishReason?: string, readonly usage?: Record<string, number>, readonly processingMs?: number, readonly siblings: number, readonly rating?: object }
}

export interface UpstreamMessage { readonly role: string, readonly content?: string | null, readonly tool_calls?: ReadonlyArray<{ id: string, function: { name: string, arguments: string } }>, readonly tool_call_id?: string }
export interface UpstreamRequest extends LoggedRequest {
  readonly body: { readonly model: string, readonly messages: readonly UpstreamMessage[], readonly tools?: ReadonlyArray<{ function: { name: string } }> }
}

export interface CaseServiceOptions {
  readonly agents: readonly AgentDefinition[]
  /** Where the provider `cases` is; the field cases by default. */
  readonly baseURL?: string
  readonly databaseUrl?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The service with the real OpenAI adapter in front of the server that replays field cases. The upstream's log is empty. */
export async function startCaseService (t: Test, upstream: CasesUpstream, { agents, baseURL = upstream.baseURL(), databaseUrl, env }: CaseServiceOptions): Promise<CaseService> {
  await upstream.clear()
  const lines: string[] = []
  const log = pino(loggerOptions({ logLevel: 'trace' }), { write: (line: string) => { lines.push(line) } })
  const models = createModelRegistry({
    providers: { cases: providerSchema.parse({ baseURL, apiKeyEnv: 'CASES_KEY' }) },
    defaultModel: `cases:${controlCase}`,
    env: { CASES_KEY: upstreamKey }
  })
  const started = await startApp(t, { models, agents, log, ...(databaseUrl === undefined ? {} : { databaseUrl }), ...(env === undefined ? {} : { env }) })
  const { url } = started
  return {
    ...started,
    upstream,
    logged: () => lines.join(''),
    ask: (threadId, text, body = {}) => post(`${url}/v1/threads/${threadId}/messages`, { text, ...body }),
    history: async (threadId, query = '') => (await getJson(`${url}/v1/threads/${threadId}/messages${query}`)).items,
    stop: (threadId) => post(`${url}/v1/threads/${threadId}/stop`, {}),
    requests: async () => await upstream.log() as unknown as UpstreamRequest[]
  }
}

/** An agent whose model answers with one field case. */
export function caseAgent (caseId: string, definition: Partial<AgentDefinition> = {}): AgentDefinition {
  return { key: caseId, model: `cases:${caseId}`, instructions: `You are the agent of ${caseId}.`, ...definition }
}

export interface RecordedTool { readonly tool: Tool, readonly inputs: unknown[] }

/** A tool that remembers what it was called with and says it back. */
export function recordedTool (name: string, input: z.ZodType = z.object({ text: z.string() })): RecordedTool {
  const inputs: unknown[] = []
  const execute = (given: unknown) => {
    inputs.push(given)
    return { echoed: given }
  }
  return { inputs, tool: defineTool({ name, description: `The tool ${name}.`, input, execute }) }
}

export function newThreadId (): string {
  return `t-${randomUUID()}`
}

/** What a person sees of an answer. */
export interface Seen {
  readonly text: string
  readonly reasoning: string
  readonly errors: readonly string[]
  readonly calls: ReadonlyArray<{ readonly name: string, readonly state: string, readonly input: unknown }>
}

export function seen ({ parts }: ClientMessage): Seen {
  const texts = (type: string) => parts.filter((part) => part.type === type).map((part) => String(part['text'])).join('')
  return {
    text: texts('text'),
    reasoning: texts('reasoning'),
    errors: parts.filter((part) => part.type === 'data-error').map((part) => String((part['data'] as { code: string }).code)),
    calls: parts.filter((part) => part.type.startsWith('tool-')).map((part) => ({ name: part.type.slice('tool-'.length), state: String(part['state']), input: part['input'] }))
  }
}

/** Parts that a person would see as still going on. */
export function unfinished ({ parts }: ClientMessage): string[] {
  const open = ['streaming', 'input-streaming', 'input-available', 'approval-requested']
  return parts.filter((part) => open.includes(String(part['state']))).map((part) => part.type)
}

/** Fails unless the reply, read by a chat client, equals what a reload shows; the answer as the reload shows it. */
export async function sameAfterReload (t: Test, service: CaseService, threadId: string, reply: Streamed): Promise<HistoryMessage> {
  const { message: live, chunks } = await foldStream('ai6', reply.body)
  const reloaded = (await service.history(threadId)).at(-1)
  if (live === undefined || reloaded === undefined) throw new Error('There is no answer')
  t.strictSame({ id: reloaded.id, role: reloaded.role, parts: reloaded.parts }, { id: live.id, role: live.role, parts: live.parts }, 'a reload shows what was live')
  const told = chunks.find(({ type }) => type === 'finish')?.['messageMetadata'] as HistoryMessage['metadata']
  const { status, finishReason, usage, processingMs } = reloaded.metadata
  t.strictSame({ status, finishReason, usage, processingMs }, { status: told.status, finishReason: told.finishReason, usage: told.usage, processingMs: told.processingMs }, 'and says the same about it')
  t.ok(reply.body.endsWith('data: [DONE]\n\n'), 'the stream ends in so many words')
  return reloaded
}

/** Sends one more message, to the agent of the control case: the thread must not be poisoned by what went before. */
export async function nextMessageWorks (t: Test, service: CaseService, threadId: string): Promise<readonly UpstreamMessage[]> {
  const patched = await fetch(`${service.url}/v1/threads/${threadId}`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ agentId: controlCase }) })
  t.equal(patched.status, 200)
  const reply = await service.ask(threadId, 'And the next message?')
  const answer = await sameAfterReload(t, service, threadId, reply)
  t.strictSame(seen(answer), { text: 'Hello world', reasoning: '', errors: [], calls: [] }, 'the next message is answered')
  const requests = await service.requests()
  t.strictSame(requests.flatMap(({ historyError = [] }) => historyError), [], 'the provider accepts every history')
  return requests.at(-1)?.body.messages ?? []
}

/** Fails where a secret, markup of a gateway or a stack got out. */
export async function nothingLeaked (t: Test, service: CaseService, threadId: string, replies: readonly Streamed[]): Promise<void> {
  const shown = replies.map(({ body }) => body).join('') + JSON.stringify(await service.history(threadId))
  t.notMatch(shown, /SECRETSECRET/, 'no secret is shown')
  t.notMatch(shown, /(\\n|\n)\s+at |node_modules|SyntaxError|<html/i, 'no stack and no upstream page is shown')
  t.notMatch(service.logged(), /SECRETSECRET/, 'no secret is logged')
  t.notOk(stored(service.databaseUrl).some((bytes) => bytes.includes('SECRETSECRET')), 'no secret is stored')
}

/** Waits until the upstream has noticed that its client is gone. */
export async function upstreamClosed (service: CaseService, withinMs = 2_000): Promise<void> {
  await until('the upstream request is closed', async () => (await service.requests()).every(({ done, closedByClient }) => done || closedByClient), withinMs)
}

/** All that a database in a file holds, as bytes. */
function stored (databaseUrl: string): Buffer[] {
  if (!databaseUrl.startsWith('file:')) return []
  const path = databaseUrl.slice('file:'.length)
  return [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file))
}
