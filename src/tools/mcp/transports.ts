import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isAppError } from '../../errors.ts'
import type { Fetch } from '../egress.ts'
import type { Integration, LocalIntegration, RemoteIntegration } from '../integration.ts'
import { failLostReplies } from './lost-replies.ts'
import { watchedFetch } from './watched-fetch.ts'

export interface TransportOptions {
  /** What the other side knows the caller by. */
  readonly token: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: Fetch
  /** The connection is gone, or may be: `surely` says which. */
  readonly onLost: (how: 'surely' | 'perhaps') => void
  /** A line that a local server wrote to its error stream. */
  readonly onLine: (line: string) => void
}

export interface OpenTransport {
  readonly transport: Transport
  /** Tells the other side that the session is over, where it wants to know. */
  readonly farewell: () => Promise<void>
  /** The refusal behind an error that no longer shows it. */
  readonly refusal: () => unknown
}

// The longest message that a local server may send, by default of the package.
const maxReplyBytes = 10 * 1024 * 1024

/** The way to one server. Nothing connects or starts yet. */
export async function createTransport (integration: Integration, options: TransportOptions): Promise<OpenTransport> {
  if ('command' in integration) return await localTransport(integration, options)
  return integration.transport === 'sse' ? await sseTransport(integration, options) : await streamableTransport(integration, options)
}

async function localTransport ({ command, args, env, passEnv, cwd }: LocalIntegration, options: TransportOptions): Promise<OpenTransport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const passed = Object.fromEntries(passEnv.flatMap((name) => options.env[name] === undefined ? [] : [[name, options.env[name]]]))
  const transport = new StdioClientTransport({ command, args, env: { ...passed, ...env }, stderr: 'pipe', ...(cwd === undefined ? {} : { cwd }) })
  // Read in any case: a full pipe would hold the process.
  const { stderr } = transport
  if (stderr !== null) createInterface({ input: stderr as Readable }).on('line', options.onLine) // a PassThrough, as documented
  return { transport, farewell: async () => {}, refusal: () => undefined }
}

async function streamableTransport (integration: RemoteIntegration, options: TransportOptions): Promise<OpenTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const { fetch, refusal } = remembering(options.fetch)
  const made = new StreamableHTTPClientTransport(new URL(integration.url), {
    fetch: watchedFetch(fetch, { maxReplyBytes, onReplyEnd: ({ method, body }) => { lost.replyEnded(method === 'POST' ? body : undefined) } }),
    requestInit: { headers: headersOf(integration, options.token) }
  })
  const transport = made as Transport // its optional fields are declared less strictly than we compile
  const lost = failLostReplies(transport, { onResume: () => { options.onLost('perhaps') } })
  return { transport, refusal, farewell: () => made.terminateSession() }
}

async function sseTransport (integration: RemoteIntegration, options: TransportOptions): Promise<OpenTransport> {
  const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
  const { fetch, refusal } = remembering(options.fetch)
  const transport = new SSEClientTransport(new URL(integration.url), {
    // All answers come on one stream. Another one would be another session, which knows nothing of what was asked.
    fetch: watchedFetch(fetch, { maxReplyBytes, onReplyEnd: ({ method }) => { if (method === 'GET') options.onLost('surely') } }),
    requestInit: { headers: headersOf(integration, options.token) }
  })
  return { transport, refusal, farewell: async () => {} }
}

function headersOf ({ headers }: RemoteIntegration, token: string | undefined): Record<string, string> {
  return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
}

/** The transports make errors of their own from what a fetch throws, without its cause. */
function remembering (fetch: Fetch): { fetch: Fetch, refusal: () => unknown } {
  let refused: unknown
  return {
    refusal: () => refused,
    fetch: async (url, init) => {
      try {
        return await fetch(url, init)
      } catch (error) {
        if (error instanceof Error && isAppError(error.cause)) refused = error.cause
        throw error
      }
    }
  }
}
