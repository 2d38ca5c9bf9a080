import { z } from 'zod'
import { agentView } from '../../src/agents/agent-view.ts'
import { decodeConversation } from '../../src/protocols/ai-sdk/decode-conversation.ts'
import { agentReference } from '../reference/agents.ts'
import { agentParams, metadataField, pageQuery, text, threadIdField } from '../schemas/fields.ts'
import { pageOf } from '../schemas/page.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const runBody = z.object({
  input: text.min(1).optional(),
  messages: z.array(z.unknown()).min(1).optional(),
  threadId: threadIdField.optional(),
  tools: z.boolean().default(false),
  responseFormat: z.record(z.string(), z.unknown()).nullable().optional(),
  metadata: metadataField.default({})
}).refine((body) => (body.input === undefined) !== (body.messages === undefined), { message: 'expected either "input" or "messages"', path: ['input'] })

const agents: RoutePlugin = async (app) => {
  app.get('/agents', { schema: { ...agentReference.list, querystring: pageQuery } }, async ({ query, principal }) => pageOf(app.catalogue.list(principal).map(agentView), query))

  app.get('/agents/:agentId', { schema: { ...agentReference.get, params: agentParams } }, async ({ params, principal }) => app.catalogue.view(principal, params.agentId))

  app.get('/agents/:agentId/tools', { schema: { ...agentReference.tools, params: agentParams } }, async ({ params, principal }) => app.catalogue.tools(principal, params.agentId))

  app.post('/agents/:agentId/run', { schema: { ...agentReference.run, params: agentParams, body: runBody } }, async (request, reply) => {
    const { input, messages, ...rest } = request.body
    const conversation = input === undefined ? decodeConversation(messages, ['messages']) : [{ role: 'user', content: input } as const]
    return await app.headless.run(request.principal, { agentId: request.params.agentId, messages: conversation, threadId: rest.threadId, responseFormat: rest.responseFormat, tools: rest.tools, metadata: rest.metadata }, reply.closeSignal())
  })
}

export default agents
