import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AgentDefinition } from '../../src/agents/agent.ts'
import type { AgentKit } from '../../src/agents/agent-kit.ts'
import type { AgentRegistry, ModelRegistry } from '../../src/agents/registry.ts'
import { buildApp } from '../../src/app.ts'
import { createPermissions, type PermissionLists } from '../../src/auth/permissions.ts'
import { loadConfig, type Config } from '../../src/config.ts'
import { openDatabase, type Database } from '../../src/database/database.ts'
import type { Model } from '../../src/models/model.ts'
import { agentOf, registryWith } from './agents.ts'
import { testDatabaseUrl } from './databases.ts'

export interface TestAppOptions {
  /** The model of every agent, where `models` does not say more. */
  readonly model?: Model
  /** Every model there is; agents choose theirs by id. */
  readonly models?: ModelRegistry
  /** Silent when absent. */
  readonly log?: FastifyBaseLogger
  /** One agent `tester` when absent. */
  readonly agents?: readonly AgentDefinition[]
  readonly databaseUrl?: string
  /** In place of the defaults, by domain. */
  readonly permissions?: Partial<PermissionLists>
  /** What runtime agents are made of; there are none when absent. */
  readonly agentKit?: AgentKit
  /** Environment variables on top of the defaults. */
  readonly env?: Readonly<Record<string, string>>
}

export interface TestApp {
  readonly app: FastifyInstance
  readonly url: string
  readonly database: Database
  readonly databaseUrl: string
}

/** The service as it is, listening on a free port of this machine, on a database of its own. */
export async function startApp (t: Test, { model, models = modelsOf(model), agents = [{ key: 'tester' }], agentKit, databaseUrl, env = {}, permissions = {}, log }: TestAppOptions): Promise<TestApp> {
  const dbUrl = databaseUrl ?? await testDatabaseUrl(t)
  const config: Config = loadConfig({ HEARTBEAT_MS: '1000', DATA_DIR: await freshFolder(t), ...env })
  const database = await openDatabase({ url: dbUrl })
  t.teardown(() => database.close()) // also where the app refuses to start
  const app = await buildApp({ config, database, agents: registryOf(agents, models), agentKit, models, permissions: createPermissions({ lists: permissions, log }), ...(log === undefined ? {} : { log }) })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url, database, databaseUrl: dbUrl }
}

async function freshFolder (t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-data-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Agents that name no model get the registry's default, which is a lone model's own. */
export function registryOf (definitions: readonly AgentDefinition[], models: Model | ModelRegistry): AgentRegistry {
  const defaultModel = 'id' in models ? models.id : models.defaultModel
  return registryWith(definitions.map((definition) => agentOf({ titleGeneration: false, ...definition }, defaultModel)))
}

export function modelsOf (model: Model | undefined): ModelRegistry {
  if (model === undefined) throw new Error('A test app needs a model, or models')
  return { get: () => model, defaultModel: model.id }
}

export interface Streamed { readonly status: number, readonly headers: Headers, readonly body: string, readonly chunks: readonly ({ type: string } & Record<string, unknown>)[] }

/** Posts JSON and reads the whole reply; `chunks` are its data frames. */
export async function post (url: string, body: unknown, init: RequestInit = {}): Promise<Streamed> {
  return await read(await fetch(url, { method: 'POST', body: JSON.stringify(body), ...init, headers: { 'content-type': 'application/json', ...init.headers } }))
}

export async function read (response: Response): Promise<Streamed> {
  const body = await response.text()
  return { status: response.status, headers: response.headers, body, chunks: chunksOf(body) }
}

export function chunksOf (body: string): Streamed['chunks'] {
  return body.split('\n\n').filter((frame) => frame.startsWith('data: ') && frame !== 'data: [DONE]').map((frame) => JSON.parse(frame.slice('data: '.length)))
}

/** The text a streamed reply says. */
export function textIn ({ chunks }: Pick<Streamed, 'chunks'>): string {
  return chunks.filter((chunk) => chunk.type === 'text-delta').map((chunk) => chunk['delta']).join('')
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are asserted on, not typed
export async function getJson (url: string): Promise<any> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`GET ${url}: ${response.status} ${await response.text()}`)
  return await response.json()
}

/** Waits for a condition, not for a time: fails after `withinMs`. */
export async function until (what: string, condition: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await sleep(10)
  }
}

export interface OpenStream {
  readonly status: number
  readonly headers: Headers
  /** The text heard so far. */
  readonly text: () => string
  readonly body: () => string
  /** Resolves with everything when the stream has ended, also when it was cut. */
  readonly ended: Promise<{ readonly cut: boolean }>
  readonly leave: () => void
}

/** Posts JSON (or GETs, without a body) and reads the reply while the test goes on. */
export async function openStream (url: string, body?: unknown): Promise<OpenStream> {
  const controller = new AbortController()
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(url, { ...request, signal: controller.signal })
  let heard = ''
  const ended = hear().then(() => ({ cut: false }), () => ({ cut: true }))
  return {
    status: response.status,
    headers: response.headers,
    text: () => textIn({ chunks: chunksOf(heard.slice(0, heard.lastIndexOf('\n\n') + 2)) }),
    body: () => heard,
    ended,
    leave: () => { controller.abort() }
  }

  async function hear (): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of response.body ?? []) heard += decoder.decode(piece as Uint8Array, { stream: true })
  }
}

export function userMessage (text: string, id?: string) {
  return { ...(id === undefined ? {} : { id }), role: 'user', parts: [{ type: 'text', text }] }
}
