import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { keepAlive } from '../src/protocols/sse.ts'
import { heartbeat } from '../src/streams/heartbeat.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends frames as they come, with a comment in every silence. Hooks, headers and backpressure stay Fastify's. */
    stream: (frames: AsyncGenerator<string, void>, headers: Readonly<Record<string, string>>) => FastifyReply
  }
}

export interface StreamReplyOptions { readonly heartbeatMs: number }

export default fp<StreamReplyOptions>(async (app, { heartbeatMs }) => {
  app.decorateReply('stream', function stream (this: FastifyReply, frames, headers) {
    return this.headers(headers).send(Readable.from(heartbeat(frames, heartbeatMs, keepAlive)))
  })
}, { name: 'stream-reply' })
