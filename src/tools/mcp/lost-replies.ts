import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'

export interface LostReplies {
  /** A reply is over. Where the request that was sent with this body has no answer by then, it fails. */
  replyEnded: (body: string | undefined) => void
}

export interface LostRepliesOptions {
  /** An answer may not have come, and the transport asks for it again, as long as the server is there. */
  readonly onResume: () => void
}

interface Awaited { resumable: boolean }

const connectionClosed = -32_000
// What was read last is parsed a few turns of the event loop later.
const settleMs = 100

/**
 * Streamable HTTP answers each request on a stream of its own, and the client goes on waiting when that breaks. This
 * answers such a request with an error in the server's place. To be called before a client takes the transport over.
 */
export function failLostReplies (transport: Transport, { onResume }: LostRepliesOptions): LostReplies {
  const awaited = new Map<RequestId, Awaited>()
  const send = transport.send.bind(transport)

  transport.send = async (message, options) => {
    if (!('method' in message)) return await send(message, options)
    if (message.method === 'notifications/cancelled') awaited.delete(message.params?.['requestId'] as RequestId) // of the protocol
    if (!('id' in message)) return await send(message, options)
    const request: Awaited = { resumable: false }
    awaited.set(message.id, request)
    await send(message, { ...options, onresumptiontoken: () => { request.resumable = true } }).catch((error: unknown) => {
      awaited.delete(message.id)
      throw error
    })
  }
  transport.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) awaited.delete(message.id)
  }

  return {
    replyEnded: (body) => { setTimeout(() => { settle(body === undefined ? undefined : idOf(body)) }, settleMs).unref() }
  }

  function settle (id: RequestId | undefined): void {
    // A stream that nothing was sent for may have been one that brings answers later.
    const open = id === undefined ? [...awaited].filter(([, { resumable }]) => resumable) : [...awaited].filter(([awaitedId]) => awaitedId === id)
    if (open.some(([, { resumable }]) => resumable)) onResume()
    for (const [lostId] of open.filter(([, { resumable }]) => !resumable)) {
      transport.onmessage?.({ jsonrpc: '2.0', id: lostId, error: { code: connectionClosed, message: 'The connection was lost before the answer came' } })
    }
  }
}

function idOf (body: string): RequestId | undefined {
  const message = JSON.parse(body) as JSONRPCMessage // our own, as it was sent
  return 'method' in message && 'id' in message ? message.id : undefined
}
