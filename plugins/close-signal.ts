import fp from 'fastify-plugin'
import type { FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Aborts when the connection closes before the response is complete. */
    closeSignal: () => AbortSignal
  }
}

// Not request.signal: in Fastify 5 it also aborts once a request body has been read (fastify#6725).
function closeSignal (this: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const onClose = () => { if (!this.raw.writableFinished) controller.abort() }
  if (this.raw.destroyed) onClose()
  else this.raw.once('close', onClose)
  return controller.signal
}

export default fp(async (app) => { app.decorateReply('closeSignal', closeSignal) }, { name: 'close-signal' })
