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

export default fp<StreamReplyOptions>(async (app, { heartbeatMs }) => {
  app.decorateReply('stream', function stream (this: FastifyReply, frames, headers) {
    this.raw.once('close', this.server.metrics.http.streamOpened())
    // Elsewhere a comment would be read, and an empty first piece, which sends the headers, must not be gathered away.
    const areEvents = headers['content-type']?.startsWith('text/event-stream') === true
    return this.headers(headers).send(areEvents ? gather(heartbeat(frames, heartbeatMs, keepAlive)) : Readable.from(frames))
  })
}, { name: 'stream-reply', dependencies: ['metrics'] })
