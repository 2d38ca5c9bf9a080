import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { AgentDefinition } from '../../src/agents/agent.ts'
import { startApp, until, type TestApp, type TestAppOptions } from './app.ts'
import { testDatabaseUrl, type TestProvider } from './databases.ts'
import { scriptedModel, type ScriptedModel, type ScriptStep } from './scripted-model.ts'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are asserted on, not typed
type Json = any

export interface Uploaded { readonly status: number, readonly headers: Headers, readonly json: Json }

export interface UploadService extends TestApp {
  readonly model: ScriptedModel
  readonly dataDir: string
  /** A thread of the first agent. */
  readonly newThread: (agentId?: string) => Promise<string>
  readonly upload: (threadId: string, ...files: readonly File[]) => Promise<Uploaded>
  /** Sends a whole multipart body, whose boundary is `bnd`. */
  readonly uploadRaw: (threadId: string, body: Buffer) => Promise<Uploaded>
  /** The file once it has been read. */
  readonly done: (threadId: string, fileId: string) => Promise<Json>
  /** Names of everything in the file storage. */
  readonly stored: () => Promise<string[]>
  readonly request: (method: string, path: string, body?: unknown) => Promise<Uploaded>
}

export interface UploadServiceOptions extends Pick<TestAppOptions, 'env' | 'databaseUrl'> {
  readonly provider?: TestProvider
  readonly agents?: readonly AgentDefinition[]
  readonly dataDir?: string
  /** What its model says, call by call. */
  readonly responses?: ReadonlyArray<readonly ScriptStep[]>
}

/** The service with an agent that takes files, on a folder of its own. */
export async function startUploadService (t: Test, { provider, env, agents = [{ key: 'reader', fileUpload: true, vision: true }], responses = [['Fine']], ...options }: UploadServiceOptions = {}): Promise<UploadService> {
  const dataDir = options.dataDir ?? await mkdtemp(join(tmpdir(), 'parley-files-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const model = scriptedModel(responses)
  const databaseUrl = options.databaseUrl ?? await testDatabaseUrl(t, provider)
  const started = await startApp(t, { model, agents, databaseUrl, env: { DATA_DIR: dataDir, ...env } })
  const { url } = started

  const request = async (method: string, path: string, body?: unknown) => answerOf(await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) }))
  const service: UploadService = {
    ...started,
    model,
    dataDir,
    request,
    newThread: async (agentId) => (await request('POST', '/v1/threads', agentId === undefined ? {} : { agentId })).json.id,
    upload: async (threadId, ...files) => {
      const form = new FormData()
      for (const file of files) form.append('file', file)
      return await answerOf(await fetch(`${url}/v1/threads/${threadId}/files`, { method: 'POST', body: form }))
    },
    uploadRaw: async (threadId, body) => await answerOf(await fetch(`${url}/v1/threads/${threadId}/files`, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': 'multipart/form-data; boundary=bnd' } })),
    done: async (threadId, fileId) => {
      let file: Json
      await until(`file ${fileId} is read`, async () => {
        file = (await request('GET', `/v1/threads/${threadId}/files/${fileId}`)).json
        return !['pending', 'processing'].includes(file.status)
      }, 15_000)
      return file
    },
    stored: async () => (await readdir(join(dataDir, 'files'), { recursive: true }).catch(() => [])).filter((name) => /^(kept|arriving)\//.test(name))
  }
  return service
}

/** A file of the thread, once it has been read. */
export async function uploaded (service: UploadService, threadId: string, file: File) {
  const { json } = await service.upload(threadId, file)
  return await service.done(threadId, json.items[0].id)
}

export async function fixture (name: string): Promise<Buffer> {
  return await readFile(new URL(`../fixtures/files/${name}`, import.meta.url))
}

export async function fixtureFile (name: string, { as = name, type = '' }: { as?: string, type?: string } = {}): Promise<File> {
  return new File([new Uint8Array(await fixture(name))], as, { type })
}

export function textFile (name: string, text: string, type = 'text/plain'): File {
  return new File([text], name, { type })
}

async function answerOf (response: Response): Promise<Uploaded> {
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = text // not every answer is JSON
  }
  return { status: response.status, headers: response.headers, json }
}
