import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

export interface Route { readonly method: string, readonly url: string }

/** Every route of the services that are built while `build` runs, as they register them: none can be left out of the list. */
export async function routesOf (build: () => Promise<unknown>): Promise<readonly Route[]> {
  const routes: Route[] = []
  const onApp = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance } // what Fastify publishes on this channel
    fastify.addHook('onRoute', ({ method, url }) => { for (const one of [method].flat()) routes.push({ method: one, url }) })
  }
  subscribe('fastify.initialization', onApp)
  try {
    await build()
  } finally {
    unsubscribe('fastify.initialization', onApp)
  }
  return routes
}
