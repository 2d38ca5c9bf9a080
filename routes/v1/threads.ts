import { z } from 'zod'
import { pageView, threadView } from '../../src/threads/thread-view.ts'
import { threadReference } from '../reference/threads.ts'
import { flagField, metadataField, pageQuery, text, threadIdField, threadParams, titleField } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const newThread = z.object({ agentId: text.optional(), id: threadIdField.optional(), title: titleField.optional(), metadata: metadataField.optional() })
const listQuery = pageQuery.extend({ agentId: text.optional(), q: text.trim().min(1).max(200).optional(), archived: flagField.default(false) })
const patch = z.object({
  title: titleField.nullable().optional(),
  agentId: text.optional(),
  metadata: metadataField.optional(),
  archived: z.boolean().optional(),
  headId: text.optional()
})

const threads: RoutePlugin = async (app) => {
  app.post('/threads', { schema: { ...threadReference.create, body: newThread } }, async (request, reply) =>
    reply.code(201).send(threadView(await app.threads.create(request.principal, request.body))))

  app.get('/threads', { schema: { ...threadReference.list, querystring: listQuery } }, async (request) =>
    pageView(await app.threads.list(request.principal, request.query), threadView))

  app.delete('/threads', { schema: threadReference.removeAll }, async (request) => ({ deleted: await app.threads.removeAll(request.principal) }))

  app.get('/threads/:threadId', { schema: { ...threadReference.get, params: threadParams } }, async (request) =>
    threadView(await app.threads.get(request.principal, request.params.threadId)))

  app.patch('/threads/:threadId', { schema: { ...threadReference.update, params: threadParams, body: patch } }, async (request) =>
    threadView(await app.threads.update(request.principal, request.params.threadId, request.body)))

  app.delete('/threads/:threadId', { schema: { ...threadReference.remove, params: threadParams } }, async (request, reply) => {
    await app.threads.remove(request.principal, request.params.threadId)
    return reply.code(204).send()
  })

  app.get('/threads/:threadId/usage', { schema: { ...threadReference.usage, params: threadParams } }, async (request) =>
    ({ items: await app.threads.usage(request.principal, request.params.threadId) }))
}

export default threads
