import { z } from 'zod'
import { errorCodes, type ErrorCode } from '../../src/errors.ts'
import { agentPathSchema, finishReasonSchema } from '../../src/events/run-event.ts'
import { usageSchema } from '../../src/events/usage.ts'
import { fileStatuses } from '../../src/files/file.ts'
import { messagePartSchema } from '../../src/messages/parts.ts'
import { messageStatuses } from '../../src/threads/message.ts'

// What the routes answer, for the description only: nothing is checked against these when it is sent.

/** Shapes that have a name of their own in the description. */
export const components = z.registry<{ id: string }>()

const when = z.iso.datetime()
const metadata = z.record(z.string(), z.unknown())
const code = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]])

export const errorShape = named('Error', z.object({
  code,
  message: z.string(),
  retryable: z.boolean(),
  ref: z.string().regex(/^[0-9a-f]{8}$/),
  details: z.object({
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    reason: z.string().optional(),
    runId: z.string().optional(),
    existingId: z.string().optional(),
    operation: z.string().optional()
  }).optional()
}))

export const openaiErrorShape = named('OpenAIError', z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code })
}))

export const usageShape = named('Usage', usageSchema.clone())

export const threadShape = named('Thread', z.object({
  id: z.string(), ownerId: z.string(), agentId: z.string(), title: z.string().nullable(), metadata, archived: z.boolean(), headId: z.string().nullable(),
  messageCount: z.number().int(), createdAt: when, updatedAt: when, lastMessageAt: when.nullable()
}))

export const messagePartShape = named('MessagePart', messagePartSchema.clone())

export const messageShape = named('Message', z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  metadata: z.object({
    createdAt: when,
    status: z.enum(messageStatuses),
    finishReason: finishReasonSchema.optional(),
    usage: usageShape.optional(),
    costUsd: z.number().optional(),
    processingMs: z.number().int().optional().describe('How long it took to make the answer, in milliseconds, without the time it waited for somebody'),
    model: z.string().optional(),
    threadId: z.string(),
    runId: z.string().optional(),
    rating: z.object({ rating: z.union([z.literal(1), z.literal(-1)]), comment: z.string().optional() }).optional(),
    siblings: z.number().int(),
    branchHeadId: z.string().optional().describe('Among siblings: what to make the head of the thread, so that this branch is shown')
  }),
  parts: z.array(messagePartShape)
}))

export const runShape = named('Run', z.object({
  id: z.string(), threadId: z.string(), messageId: z.string(), agentId: z.string(),
  status: z.enum(['queued', 'running', 'suspended', 'completed', 'stopped', 'failed', 'interrupted']),
  errorCode: code.nullable(), createdAt: when, endedAt: when.nullable()
}))

export const approvalShape = z.object({
  id: z.string(), threadId: z.string(), runId: z.string(), messageId: z.string(), callId: z.string(),
  agentPath: agentPathSchema, toolName: z.string(), input: z.unknown(),
  status: z.enum(['pending', 'approved', 'denied', 'expired', 'superseded', 'stopped']),
  reason: z.string().nullable(), createdAt: when, expiresAt: when, decidedAt: when.nullable()
})

export const artifactShape = named('Artifact', z.object({
  id: z.string(), threadId: z.string(), messageId: z.string(), runId: z.string(), name: z.string(), data: z.unknown(),
  callId: z.string().describe('Of its part of the message'),
  sourceCallId: z.string().nullable().describe('The call whose result it shows; null for one that a model submitted'),
  agentPath: agentPathSchema, createdAt: when
}))

export const agentShape = named('Agent', z.object({
  id: z.string(), key: z.string(), name: z.string(), description: z.string(), model: z.string(),
  fileUpload: z.boolean(), vision: z.boolean(), retrieval: z.boolean(), suggestions: z.boolean()
}))

export const runtimeAgentShape = named('RuntimeAgent', z.object({
  id: z.string(), base: z.string().describe('The key of the agent it is made of'), name: z.string(),
  description: z.string().nullable(), model: z.string().nullable(), tools: z.array(z.string()), suggestions: z.boolean().nullable(), active: z.boolean(),
  createdAt: when, updatedAt: when,
  instructions: z.string().nullable().optional(),
  createdBy: z.string().optional(),
  problem: z.string().nullable().optional().describe('Why it cannot be talked to although it is active')
}))

const toolLists = {
  tools: z.array(z.object({ name: z.string(), label: z.string(), description: z.string() })),
  integrations: z.array(z.object({ name: z.string(), label: z.string() }))
}

const memberToolsShape: z.ZodType = named('MemberTools', z.object({
  toolName: z.string().nullable().describe('The tool that asks the member; null where no model asks it'),
  mode: z.enum(['request', 'handover']), id: z.string(), name: z.string(), description: z.string(), ...toolLists,
  get children (): z.ZodArray { return z.array(memberToolsShape) }
}))

export const agentToolsShape = named('AgentTools', z.object({ ...toolLists, children: z.array(memberToolsShape) }))

export const runResultShape = named('RunResult', z.object({
  output: z.unknown(), text: z.string(), usage: usageShape, finishReason: finishReasonSchema,
  toolCalls: z.array(z.object({ callId: z.string(), toolName: z.string(), input: z.unknown(), output: z.unknown().optional(), error: z.string().optional() }))
}))

export const usageLineShape = named('UsageLine', z.object({
  model: z.string(), agentPath: z.string(), calls: z.number().int(), usage: usageShape, costUsd: z.number().optional(), estimated: z.boolean()
}))

export const fileShape = named('File', z.object({
  id: z.string(), threadId: z.string(), name: z.string(), mediaType: z.string(), size: z.number().int(), status: z.enum(fileStatuses),
  step: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  facts: z.object({
    encoding: z.string().optional(), characters: z.number().int().optional(), lines: z.number().int().optional(), rows: z.number().int().optional(),
    columns: z.array(z.string()).optional(), delimiter: z.string().optional(), records: z.number().int().optional(),
    width: z.number().int().optional(), height: z.number().int().optional(), note: z.string().optional()
  }),
  url: z.string(), createdAt: when, updatedAt: when
}))

export const modelShape = named('Model', z.object({ id: z.string(), object: z.literal('model'), created: z.number().int(), owned_by: z.string() }))

export const completionShape = named('ChatCompletion', z.object({
  id: z.string(), object: z.literal('chat.completion'), created: z.number().int(), model: z.string(),
  choices: z.array(z.object({
    index: z.number().int(),
    message: z.object({ role: z.literal('assistant'), content: z.string(), refusal: z.null(), reasoning_content: z.string().optional() }),
    logprobs: z.null(),
    finish_reason: z.string()
  })),
  usage: z.object({
    prompt_tokens: z.number().int(), completion_tokens: z.number().int(), total_tokens: z.number().int(),
    prompt_tokens_details: z.object({ cached_tokens: z.number().int() }),
    completion_tokens_details: z.object({ reasoning_tokens: z.number().int() })
  })
}))

export function pageShape (item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() })
}

export function named<T extends z.ZodType> (id: string, schema: T): T {
  components.add(schema, { id })
  return schema
}
