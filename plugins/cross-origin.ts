import cors from '@fastify/cors'
import fp from 'fastify-plugin'

export interface CrossOriginOptions { readonly origins: readonly string[] }

/** Lets browsers of the listed origins call the service and read the ids on a stream; `*` lets all. */
export default fp<CrossOriginOptions>(async (app, { origins }) => {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-thread-id', 'x-run-id', 'x-vercel-ai-ui-message-stream', 'retry-after'],
    maxAge: 600
  })
}, { name: 'cross-origin' })
