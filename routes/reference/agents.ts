import { z } from 'zod'
import { describe, json } from './describe.ts'
import { agentExample, agentToolsExample, runResultExample } from './examples.ts'
import { agentShape, agentToolsShape, pageShape, runResultShape } from './shapes.ts'

export const agentReference = {
  list: describe({
    id: 'listAgents', tag: 'Agents', summary: 'List the agents a chat can choose',
    answers: { 200: json('A page of agents', pageShape(agentShape), { items: [agentExample], nextCursor: null }) }
  }),
  get: describe({
    id: 'getAgent', tag: 'Agents', summary: 'Read one agent',
    answers: { 200: json('The agent, with its instructions for callers who manage it', agentShape.extend({ instructions: z.string().optional() }), agentExample) },
    errors: ['not_found']
  }),
  tools: describe({
    id: 'listAgentTools', tag: 'Agents', summary: 'List what an agent can use',
    description: 'Tools that are known before a run, the integrations that the caller may use, and its crew, each member with what it can use itself.',
    answers: { 200: json('Its tools, integrations and members', agentToolsShape, agentToolsExample) },
    errors: ['not_found']
  }),
  run: describe({
    id: 'runAgent', tag: 'Agents', summary: 'Get one answer as JSON',
    description: 'Nothing is stored unless `threadId` names a thread. `responseFormat` is a JSON schema that `output` then fits.',
    body: { example: { input: 'When do you open on Sunday?' } },
    answers: { 200: json('The answer', runResultShape, runResultExample) },
    errors: ['not_found', 'conflict', 'thread_busy', 'payload_too_large', 'context_overflow', 'content_filtered', 'configuration_error', 'provider_unavailable', 'provider_timeout', 'shutting_down']
  })
}
