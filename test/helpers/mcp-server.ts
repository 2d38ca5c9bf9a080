import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ListToolsRequestSchema, type ServerNotification, type ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Test } from 'tap'

export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>

export interface McpServerOptions {
  /** What its tools are called, and what they do. */
  readonly tools?: Readonly<Record<string, (input: Record<string, unknown>, extra: CallExtra) => unknown>>
  /** What it says of its tools: those above, plainly, when absent. */
  readonly list?: (cursor: string | undefined, extra: CallExtra) => unknown
  /** Answers requests in its place; false where it does not. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
  readonly answers?: 'json' | 'streams'
  readonly port?: number
}

export interface McpServer {
  readonly url: string
  readonly port: number
  /** Method of the protocol and header of each message it got, in order. */
  readonly heard: ReadonlyArray<{ readonly method: string, readonly authorization: string | undefined }>
  readonly count: (method: string) => number
  /** How many sessions are open. */
  readonly sessions: () => number
  readonly forgetSessions: () => void
  /** Breaks every connection that is open. */
  readonly cut: () => void
  readonly tellToolsChanged: () => Promise<void>
  readonly close: () => void
}

/** A server of the protocol in this process, over streamable HTTP. */
export async function startMcpServer (t: Test, { tools = {}, list, intercept, answers = 'streams', port = 0 }: McpServerOptions = {}): Promise<McpServer> {
  const heard: { method: string, authorization: string | undefined }[] = []
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport, server: Server }>()
  const http = createServer((request, response) => { void handle(request, response) })
  const close = () => { http.closeAllConnections(); http.close() }
  t.teardown(close)
  await once(http.listen(port, '127.0.0.1'), 'listening')
  const bound = (http.address() as AddressInfo).port

  return {
    port: bound,
    url: `http://127.0.0.1:${bound}/mcp`,
    heard,
    count: (method) => heard.filter((message) => message.method === method).length,
    sessions: () => sessions.size,
    forgetSessions: () => { sessions.clear() },
    cut: () => { http.closeAllConnections() },
    tellToolsChanged: async () => { for (const { server } of sessions.values()) await server.sendToolListChanged() },
    close
  }

  async function handle (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: unknown = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
    heard.push({ method: (body as { method?: string } | undefined)?.method ?? String(request.method), authorization: request.headers.authorization })
    if (intercept?.(request, response) === true) return
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && known === undefined) {
      response.writeHead(404).end()
      return
    }
    await (known?.transport ?? await newSession()).handleRequest(request, response, body)
  }

  async function newSession (): Promise<StreamableHTTPServerTransport> {
    const server = new Server({ name: 'test', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: answers === 'json',
      onsessioninitialized: (id) => { sessions.set(id, { transport, server }) },
      onsessionclosed: (id) => { sessions.delete(id) }
    })
    const named = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }))
    // What a server says is not always what it should be, and the handlers are typed for those that are right.
    server.setRequestHandler(ListToolsRequestSchema, ({ params }, extra) => (list?.(params?.cursor, extra) ?? { tools: named }) as never)
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => await tools[params.name]?.(params.arguments ?? {}, extra) as never)
    await server.connect(transport as Transport) // its optional fields are declared less strictly than we compile
    return transport
  }
}

export function said (text: string) {
  return { content: [{ type: 'text', text }] }
}
