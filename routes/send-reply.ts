import type { FastifyReply } from 'fastify'
import { protocolNamed } from '../src/protocols/registry.ts'
import type { Reply } from '../src/runs/chat.ts'
import type { WireQuery } from './schemas/wire.ts'

/** Sends a reply's events on the wire that was asked for, else the agent's, and the ids by which they can be found again. */
export function sendReply (reply: FastifyReply, answer: Reply, asked: WireQuery): FastifyReply {
  const { agent, initialParts, events } = answer
  const protocol = protocolNamed(asked.protocol ?? agent?.protocol ?? 'ai-sdk')
  const profile = asked.profile ?? agent?.wireProfile ?? 'portable'
  return reply.stream(protocol.encode(events(reply.closeSignal()), { initialParts, profile }), { ...protocol.headers, ...idHeaders(answer) })
}

export function idHeaders ({ runId, threadId }: Reply): Readonly<Record<string, string>> {
  return { ...(threadId === undefined ? {} : { 'x-thread-id': threadId }), ...(runId === undefined ? {} : { 'x-run-id': runId }) }
}
