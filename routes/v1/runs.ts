import { z } from 'zod'
import { nativeProtocol } from '../../src/protocols/native/encode.ts'
import { runView } from '../../src/runs/run-view.ts'
import { runReference } from '../reference/runs.ts'
import { runParams } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const position = z.coerce.number().int().min(-1)
const eventsQuery = z.object({ after: position.optional() })
const eventsHeaders = z.object({ 'last-event-id': position.optional() })

const runs: RoutePlugin = async (app) => {
  app.get('/runs/:runId', { schema: { ...runReference.get, params: runParams } }, async (request) =>
    runView(await app.runs.get(request.principal, request.params.runId)))

  app.get('/runs/:runId/events', { schema: { ...runReference.events, params: runParams, querystring: eventsQuery, headers: eventsHeaders } }, async (request, reply) => {
    const after = request.query.after ?? request.headers['last-event-id'] ?? -1
    const events = await app.runs.events(request.principal, request.params.runId, after)
    return reply.stream(nativeProtocol.encode(events(reply.closeSignal())), nativeProtocol.headers)
  })

  app.post('/runs/:runId/stop', { schema: { ...runReference.stop, params: runParams } }, async (request) => {
    await app.runs.stop(request.principal, request.params.runId)
    return { runId: request.params.runId }
  })
}

export default runs
