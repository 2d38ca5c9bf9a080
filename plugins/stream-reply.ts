import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { keepAlive } from '../src/protocols/sse.ts'
import { gather } from '../src/streams/gather.ts'
import { heartbeat } from '../src/streams/heartbeat.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends frames as they come, of events with a comment in every silence. Hooks, headers and backpressure stay Fastify's. */
    stream: (frames: AsyncGenerator<string, void>, headers: Readonly<Record<string, string>>) => FastifyReply
  }
}

export interface StreamReplyOptions { readonly heartbeatMs: number }

// Far below what fills a socket's buffer, in any alphabet.
const maxHeldCharacters = 4_096

export default fp<StreamReplyOptions>(async (app, { heartbeatMs }) => {
  app.decorateReply('stream', function stream (this: FastifyReply, frames, headers) {
    this.raw.once('close', this.server.metrics.http.streamOpened())
    // Elsewhere a comment would be read, and an empty first piece, which sends the headers, must not be gathered away.
    const areEvents = headers['content-type']?.startsWith('text/event-stream') === true
    if (!areEvents) return this.headers(headers).send(Readable.from(frames))
    return this.headers(headers).send(gather(heartbeat(frames, heartbeatMs, keepAlive), { beforeLast: (characters) => { holdForEnd(this.raw, characters) } }))
  })
}, { name: 'stream-reply', dependencies: ['metrics'] })

/**
 * Lets the end of a response travel with its last chunk: `end` lets go of both. Not where the socket has something to
 * send already, because it would never say that it has room again.
 */
function holdForEnd ({ socket }: ServerResponse, characters: number): void {
  if (socket !== null && socket.writableLength === 0 && characters <= maxHeldCharacters) socket.cork()
}
