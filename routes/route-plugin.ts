import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

/** A file of routes: schema, one service call, one reply each. */
export type RoutePlugin = FastifyPluginAsyncZod
