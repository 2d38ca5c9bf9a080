import { runtimePatchSchema, runtimeSettingsSchema } from '../../src/agents/runtime-settings.ts'
import { runtimeAgentReference } from '../reference/runtime-agents.ts'
import { pageQuery, runtimeAgentParams } from '../schemas/fields.ts'
import { pageOf } from '../schemas/page.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const runtimeAgents: RoutePlugin = async (app) => {
  app.post('/runtime-agents', { schema: { ...runtimeAgentReference.create, body: runtimeSettingsSchema } }, async (request, reply) =>
    reply.code(201).send(await app.runtimeAgents.create(request.principal, request.body)))

  app.get('/runtime-agents', { schema: { ...runtimeAgentReference.list, querystring: pageQuery } }, async ({ query, principal }) => pageOf(await app.runtimeAgents.list(principal), query))

  app.get('/runtime-agents/:runtimeAgentId', { schema: { ...runtimeAgentReference.get, params: runtimeAgentParams } }, async ({ params, principal }) =>
    await app.runtimeAgents.get(principal, params.runtimeAgentId))

  app.patch('/runtime-agents/:runtimeAgentId', { schema: { ...runtimeAgentReference.update, params: runtimeAgentParams, body: runtimePatchSchema } }, async ({ params, principal, body }) =>
    await app.runtimeAgents.update(principal, params.runtimeAgentId, body))

  app.delete('/runtime-agents/:runtimeAgentId', { schema: { ...runtimeAgentReference.remove, params: runtimeAgentParams } }, async (request, reply) => {
    await app.runtimeAgents.remove(request.principal, request.params.runtimeAgentId)
    return reply.code(204).send()
  })
}

export default runtimeAgents
