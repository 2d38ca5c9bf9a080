import { z } from 'zod'
import { errorCodes, type ErrorCode } from '../errors.ts'
import { usageSchema } from './usage.ts'

// JSON that came from outside and goes out again unread: tool inputs, outputs, data parts.
const json = z.unknown()
const blockId = z.string()
const callId = z.string()
const errorCode = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]])

export const finishReasonSchema = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'])
export type FinishReason = z.output<typeof finishReasonSchema>

export const agentPathSchema = z.array(z.object({ agentId: z.string(), name: z.string(), toolCallId: z.string() }))
export type AgentPath = z.output<typeof agentPathSchema>

/** Notes of a model's provider, by its name. They travel with what they belong to and are read by nobody else. */
const providerMetadata = z.record(z.string(), z.record(z.string(), z.unknown()))
const failure = { code: errorCode, message: z.string(), retryable: z.boolean(), ref: z.string() }
/** How long the message was worked on, in milliseconds; absent where it is not known. */
const processingMs = z.number().int().nonnegative().optional()

/** Every event as the run loop yields it; the run log adds `seq` and `at`. Field meanings: docs/events.md. */
const bodies = [
  event('message-start', { messageId: z.string(), runId: z.string(), threadId: z.string().optional(), agentId: z.string(), model: z.string(), continued: z.boolean() }),
  event('step-start', { step: z.number() }),
  event('step-end', { step: z.number(), finishReason: finishReasonSchema.optional(), usage: usageSchema.optional() }),
  event('text-start', { blockId }),
  event('text-delta', { blockId, delta: z.string() }),
  event('text-end', { blockId }),
  event('reasoning-start', { blockId }),
  event('reasoning-delta', { blockId, delta: z.string() }),
  event('reasoning-end', { blockId, providerMetadata: providerMetadata.optional() }),
  event('tool-call-start', { callId, toolName: z.string(), title: z.string().optional(), dynamic: z.boolean().optional(), handoff: z.string().optional(), providerExecuted: z.boolean().optional() }),
  event('tool-input-delta', { callId, delta: z.string() }),
  event('tool-input-complete', { callId, toolName: z.string(), input: json, attribution: z.record(z.string(), json).optional() }),
  event('tool-input-invalid', { callId, toolName: z.string(), input: json, message: z.string() }),
  event('tool-output', { callId, output: json, preliminary: z.boolean().optional() }),
  event('tool-error', { callId, code: z.string(), message: z.string() }),
  event('tool-denied', { callId, reason: z.string().optional() }),
  event('approval-requested', { approvalId: z.string(), callId, expiresAt: z.string() }),
  event('source', { index: z.number(), sourceId: z.string(), title: z.string(), fileId: z.string().optional(), url: z.string().optional(), page: z.number().optional(), snippet: z.string().optional() }),
  event('file', { fileId: z.string().optional(), url: z.string().optional(), mediaType: z.string(), name: z.string().optional() }),
  event('data', { name: z.string(), data: json, id: z.string().optional(), transient: z.boolean().optional() }),
  event('suggestions', { suggestions: z.array(z.string()) }),
  event('title', { title: z.string() }),
  event('progress', { message: z.string(), fraction: z.number().optional(), callId: z.string().optional() }),
  event('subagent-start', { frameId: z.string(), name: z.string(), status: z.string(), text: z.string(), reasoning: z.string() }),
  event('subagent-update', { frameId: z.string(), name: z.string(), status: z.string(), text: z.string(), reasoning: z.string() }),
  event('subagent-end', { frameId: z.string(), name: z.string(), status: z.string(), text: z.string(), reasoning: z.string() }),
  event('usage', { model: z.string(), buckets: usageSchema, costUsd: z.number().optional(), estimated: z.boolean().optional() }),
  event('message-end', { finishReason: finishReasonSchema, usage: usageSchema, costUsd: z.number().optional() }),
  event('run-completed', { processingMs }),
  event('run-suspended', { approvals: z.array(z.string()), pendingCalls: z.array(z.string()), processingMs }),
  event('run-stopped', { reason: z.string(), processingMs }),
  event('run-failed', { ...failure, processingMs }),
  event('run-interrupted', { ...failure, processingMs }),
  event('snapshot', { parts: z.array(json) })
] as const

export const runEventBodySchema = z.discriminatedUnion('type', bodies)
export type RunEventBody = z.output<typeof runEventBodySchema>

const stamp = z.object({ seq: z.number().int().nonnegative(), at: z.string() })
export const runEventSchema = z.intersection(runEventBodySchema, stamp)

/** An event in a run's log: `seq` counts from 0 without holes, `at` is ISO 8601 UTC. */
export type RunEvent = RunEventBody & z.output<typeof stamp>
export type RunEventType = RunEventBody['type']
export type RunEventOf<T extends RunEventType> = Extract<RunEventBody, { type: T }>
/** What tells of one call of a tool. */
export type ToolEvent = RunEventOf<'tool-call-start' | 'tool-input-delta' | 'tool-input-complete' | 'tool-input-invalid' | 'tool-output' | 'tool-error' | 'tool-denied' | 'approval-requested'>

const terminalTypes = ['run-completed', 'run-suspended', 'run-stopped', 'run-failed', 'run-interrupted'] as const
export type TerminalEvent = RunEventOf<typeof terminalTypes[number]>
const terminal: ReadonlySet<string> = new Set(terminalTypes)

/** A run's log ends with exactly one of these. */
export function isTerminal (event: RunEventBody): event is TerminalEvent {
  return terminal.has(event.type)
}

function event<T extends string, S extends z.core.$ZodShape> (type: T, shape: S) {
  return z.object({ type: z.literal(type), ...shape, agentPath: agentPathSchema.optional() })
}
