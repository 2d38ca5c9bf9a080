import type { FastifyReply } from 'fastify'
import type { Protocol } from '../src/protocols/protocol.ts'
import type { Reply } from '../src/runs/chat.ts'

/** Sends a reply's events on a wire, and the ids by which they can be found again. */
export function sendReply (reply: FastifyReply, { runId, threadId, initialParts, events }: Reply, protocol: Protocol): FastifyReply {
  const ids = { ...(threadId === undefined ? {} : { 'x-thread-id': threadId }), ...(runId === undefined ? {} : { 'x-run-id': runId }) }
  reply.log.info({ runId, threadId }, 'streaming a run')
  return reply.stream(protocol.encode(events(reply.closeSignal()), { initialParts }), { ...protocol.headers, ...ids })
}
