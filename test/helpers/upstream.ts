import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'

export interface Upstream {
  /** With the `/v1` that clients expect. */
  readonly baseURL: string
}

export interface CasesUpstream {
  /** The base URL that answers with one field case, or, without a case, with the case the model is named for. */
  readonly baseURL: (caseId?: string) => string
  readonly log: () => Promise<LoggedRequest[]>
  readonly clear: () => Promise<void>
}

export interface LoggedRequest {
  readonly case: string
  readonly t: number
  readonly body: Record<string, unknown>
  readonly auth: boolean
  readonly historyError?: string
  readonly closedByClient: boolean
  readonly done: boolean
}

const fixtures = new URL('../fixtures/', import.meta.url)

/** The chunks of a recorded stream of chat completions, as text. */
export function readRecording (name: string): string[] {
  return readFileSync(new URL(`provider-streams/${name}.jsonl`, fixtures), 'utf8').split('\n').filter((line) => line !== '')
}

/** A recording as the bytes of the stream it was. */
export function recordingBytes (name: string): Buffer {
  return Buffer.from(readRecording(name).map((line) => `data: ${line}\n\n`).join('') + 'data: [DONE]\n\n')
}

/** Replays bytes as server-sent events, in pieces that end at the given positions. */
export function replay (bytes: Uint8Array, { splitAt = [] }: { splitAt?: readonly number[] } = {}): RequestListener {
  return async (request, response) => {
    request.resume()
    await once(request, 'end')
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.socket?.setNoDelay(true)
    let from = 0
    for (const to of [...splitAt, bytes.length]) {
      await new Promise((resolve) => response.write(bytes.subarray(from, to), resolve))
      await new Promise((resolve) => { setImmediate(resolve) })
      from = to
    }
    response.end()
  }
}

/** A provider of one test on a free port: a request handler, or the name of a recording to replay. */
export async function startUpstream (t: Test, handler: string | ((request: IncomingMessage, response: ServerResponse) => void)): Promise<Upstream> {
  const server = createServer(typeof handler === 'string' ? replay(recordingBytes(handler)) : handler)
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => { server.close(resolve) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { baseURL: `http://127.0.0.1:${portOf(server.address())}/v1` }
}

/** The server that replays field cases, as a process of its own. `env`: TOOL0, TOOL1, ARGS0, ARGS1, STRICT. */
export async function startCasesUpstream (t: Test, env: Record<string, string> = {}): Promise<CasesUpstream> {
  const port = await freePort()
  const script = new URL('upstream/mock-upstream.mjs', fixtures)
  const child = spawn(process.execPath, [script.pathname, String(port)], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => { throw new Error('The field-case server did not start') })
  ])
  const origin = `http://127.0.0.1:${port}`
  const ask = (method: string) => fetch(`${origin}/__log`, { method })
  // A connection that was kept may be closed in the moment it is used again, so that both may be asked twice.
  return {
    baseURL: (caseId) => caseId === undefined ? `${origin}/v1` : `${origin}/${caseId}/v1`,
    log: async () => await (await ask('GET').catch(() => ask('GET'))).json() as LoggedRequest[],
    clear: async () => { await ask('DELETE').catch(() => ask('DELETE')) }
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server.address())
  await new Promise((resolve) => { server.close(resolve) })
  return port
}

function portOf (address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('Not listening on a port')
  return address.port
}
