import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether new work should be sent here. */
    readiness: () => Promise<'ready' | 'draining' | 'storage_unavailable'>
    /** Turns readiness off, refuses new runs, and waits for the running ones as long as configured. */
    drainRuns: (timeoutMs: number) => Promise<void>
  }
}

export default fp(async (app) => {
  let draining = false

  app.decorate('readiness', async () => {
    if (draining) return 'draining'
    try {
      await app.storages.ping()
      return 'ready'
    } catch (error) {
      app.log.warn({ err: error }, 'a storage does not answer')
      return 'storage_unavailable'
    }
  })
  app.decorate('drainRuns', async (timeoutMs: number) => {
    draining = true
    await app.runRegistry.drain(timeoutMs)
  })
}, { name: 'readiness', dependencies: ['services'] })
