import { openapiReference } from './reference/service.ts'
import type { RoutePlugin } from './route-plugin.ts'

const openapi: RoutePlugin = async (app) => {
  let document: string | undefined

  app.get('/openapi.json', { schema: openapiReference }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

export default openapi
