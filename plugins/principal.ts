import fp from 'fastify-plugin'
import { anonymous, type Principal } from '../src/auth/principal.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking. */
    principal: Principal
  }
}

/** AUTH=none: everybody is the one anonymous caller. */
export default fp(async (app) => {
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => { request.principal = anonymous })
}, { name: 'principal' })
