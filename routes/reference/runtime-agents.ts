import { describe, json, nothing } from './describe.ts'
import { runtimeAgentExample } from './examples.ts'
import { pageShape, runtimeAgentShape } from './shapes.ts'

const { id, createdBy, createdAt, updatedAt, problem, ...settings } = runtimeAgentExample

export const runtimeAgentReference = {
  create: describe({
    id: 'createRuntimeAgent', tag: 'Runtime agents', summary: 'Make an agent of a base that the configuration offers',
    description: 'What is left out or null is as the base has it; `tools` are added to those of the base. Only where the configuration has `runtimeAgents`.',
    body: { example: settings },
    answers: { 201: json('The agent: its id is the `agentId` of chats', runtimeAgentShape, runtimeAgentExample) },
    errors: ['not_found', 'payload_too_large']
  }),
  list: describe({
    id: 'listRuntimeAgents', tag: 'Runtime agents', summary: 'List the runtime agents of the tenant, in the order they were made',
    description: 'Those that cannot be talked to are shown to callers who manage them, with the reason as `problem`.',
    answers: { 200: json('A page of runtime agents', pageShape(runtimeAgentShape), { items: [runtimeAgentExample], nextCursor: null }) },
    errors: ['not_found']
  }),
  get: describe({
    id: 'getRuntimeAgent', tag: 'Runtime agents', summary: 'Read one runtime agent',
    answers: { 200: json('The agent; `instructions`, `createdBy` and `problem` for callers who manage it', runtimeAgentShape, runtimeAgentExample) },
    errors: ['not_found']
  }),
  update: describe({
    id: 'updateRuntimeAgent', tag: 'Runtime agents', summary: 'Change a runtime agent, from its next answer on, or switch it off and on',
    body: { example: { instructions: 'Answer in verse.', active: true } },
    answers: { 200: json('The agent as it is now', runtimeAgentShape, { ...runtimeAgentExample, instructions: 'Answer in verse.' }) },
    errors: ['not_found', 'conflict', 'payload_too_large']
  }),
  remove: describe({
    id: 'removeRuntimeAgent', tag: 'Runtime agents', summary: 'Remove a runtime agent; its threads stay',
    answers: { 204: nothing('It is gone') },
    errors: ['not_found']
  })
}
