import type { OutgoingHttpHeaders } from 'node:http'
import fp from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { keepAlive } from '../src/protocols/sse.ts'
import { sendFrames } from '../src/streams/send-frames.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends frames as they come, of events with a comment in every silence. Headers and the hooks of a finished response stay Fastify's. */
    stream: (frames: AsyncGenerator<string, void>, headers: Readonly<Record<string, string>>) => FastifyReply
  }
}

export interface StreamReplyOptions { readonly heartbeatMs: number }

export default fp<StreamReplyOptions>(async (app, { heartbeatMs }) => {
  app.decorateReply('stream', function stream (this: FastifyReply, frames, headers) {
    const { raw, request, statusCode } = this
    if (raw.destroyed) {
      this.hijack()
      void readOut(frames)
      return this
    }
    raw.once('close', this.server.metrics.http.streamOpened())
    // Chat clients tell the whole conversation with every question: it is not held for as long as the answer takes.
    request.body = undefined
    this.headers(headers)
    // Node would keep it open where a header says so, and a client that asked for the end waits for it.
    if (!raw.shouldKeepAlive) void this.header('connection', 'close')
    raw.writeHead(statusCode, this.getHeaders() as OutgoingHttpHeaders) // Fastify's type allows numbers for more of them
    // Not by `send`: the stream that it takes, and its way to the response, are 7 KB more of every open answer.
    this.hijack()
    if (request.method === 'HEAD') {
      void frames.return()
      raw.end()
      return this
    }
    // Elsewhere a comment would be read.
    const areEvents = headers['content-type']?.startsWith('text/event-stream') === true
    if (!areEvents) raw.flushHeaders()
    sendFrames(frames, raw, {
      silence: areEvents ? { everyMs: heartbeatMs, beat: keepAlive } : undefined,
      onFailure: (err) => { request.log.warn({ err }, 'a stream broke off') }
    })
    return this
  })
}, { name: 'stream-reply', dependencies: ['metrics'] })

/**
 * For a client that left before there was anything to send. Begun and not closed: what was never begun cannot tell its run
 * that its reader is gone. The close signal has aborted, so that nothing is waited for.
 */
async function readOut (frames: AsyncGenerator<string, void>): Promise<void> {
  try {
    while ((await frames.next()).done !== true);
  } catch {} // a run that did not end, which nobody is there to be told
}
