import type { FastifyReply } from 'fastify'
import { protocolNamed } from '../src/protocols/registry.ts'
import type { Reply } from '../src/runs/chat.ts'
import type { WireQuery } from './schemas/wire.ts'

/** Sends a reply's events on the wire that was asked for, else the agent's, and the ids by which they can be found again. */
export function sendReply (reply: FastifyReply, { runId, threadId, agent, initialParts, events }: Reply, asked: WireQuery): FastifyReply {
  const protocol = protocolNamed(asked.protocol ?? agent?.protocol ?? 'ai-sdk')
  const profile = asked.profile ?? agent?.wireProfile ?? 'portable'
  const ids = { ...(threadId === undefined ? {} : { 'x-thread-id': threadId }), ...(runId === undefined ? {} : { 'x-run-id': runId }) }
  return reply.stream(protocol.encode(events(reply.closeSignal()), { initialParts, profile }), { ...protocol.headers, ...ids })
}
