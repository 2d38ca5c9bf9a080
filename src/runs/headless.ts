import type { Agent } from '../agents/agent.ts'
import { askableAgent, type AgentsAndPermissions } from '../agents/askable-agent.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, invalidRequest, notFound } from '../errors.ts'
import { isTerminal, type FinishReason, type RunEvent, type RunEventBody, type TerminalEvent } from '../events/run-event.ts'
import { addUsage, noUsage, type Usage } from '../events/usage.ts'
import type { JsonSchema, ModelMessage } from '../models/model.ts'
import { readResponse, responseShape } from '../runtime/response-shape.ts'
import { runAgent } from '../runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../runtime/run-input.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { ChatService } from './chat.ts'

export interface HeadlessInput {
  readonly agentId: string
  /** The conversation, ending with what is to be answered. With a thread, only its last message counts: the rest is stored. */
  readonly messages: readonly ModelMessage[]
  readonly threadId: string | undefined
  readonly tools: boolean
  /** A JSON schema, `null` for plain text whatever the agent says, absent for the agent's own. */
  readonly responseFormat: JsonSchema | null | undefined
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface HeadlessToolCall { readonly callId: string, readonly toolName: string, readonly input: unknown, readonly output?: unknown, readonly error?: string }

export interface HeadlessResult {
  /** The validated value when a shape was asked for, the text otherwise. */
  readonly output: unknown
  readonly text: string
  readonly usage: Usage
  readonly finishReason: FinishReason
  readonly toolCalls: readonly HeadlessToolCall[]
}

export interface HeadlessService {
  /**
   * One run, drained: stateless, or a turn of a thread. Throws what broke it, not_found for an unknown agent, permission_denied, conflict
   * when it was stopped. Aborting `signal` stops a stateless run; a thread's goes on.
   */
  run: (principal: Principal, input: HeadlessInput, signal: AbortSignal) => Promise<HeadlessResult>
}

export function createHeadlessService ({ chat, deps, newId, ...known }: AgentsAndPermissions & { readonly chat: ChatService, readonly deps: RunDeps, readonly newId: () => string }): HeadlessService {
  return {
    async run (principal, input, signal) {
      const agent = askableAgent(known, principal, input.agentId, 'run')
      if (agent === undefined) throw notFound('agent')
      deps.models.get(agent.model)
      const { responseFormat = agent.responseFormat } = input
      const response = responseFormat === null ? undefined : responseShape(responseFormat, 'responseFormat')
      const how = { mode: 'headless', useTools: input.tools, suspendsFor: 'nothing', ...(response === undefined ? {} : { response }) } as const
      const events = input.threadId === undefined ? stateless(principal, agent, input, how, signal) : await inThread(principal, agent, input, input.threadId, how, signal)
      const { text, ...rest } = await drainRun(events, { allSteps: agent.pipeline !== undefined })
      return { output: response === undefined ? text : readResponse(text, response)?.value, text, ...rest }
    }
  }

  type How = Pick<RunInput, 'mode' | 'useTools' | 'suspendsFor' | 'response'>

  function stateless (principal: Principal, agent: Agent, { messages, metadata }: HeadlessInput, how: How, signal: AbortSignal): BatchStream<RunEventBody> {
    const runId = newId()
    return runAgent({ ...how, runId, messageId: newId(), threadId: undefined, agent, principal, metadata, history: messages }, { ...deps, log: deps.log.child({ runId }) }, signal)
  }

  async function inThread (principal: Principal, agent: Agent, { messages, metadata }: HeadlessInput, threadId: string, how: How, signal: AbortSignal): Promise<BatchStream<RunEvent>> {
    const question = messages.at(-1)
    if (question?.role !== 'user') throw invalidRequest('messages: the last message must be the user\'s.', [{ path: 'messages', message: 'expected a user message at the end' }])
    const request = { kind: 'message', parts: [{ type: 'text', text: question.content }] } as const
    const reply = await chat.takeTurn(principal, { threadId, agentId: agent.id, request, metadata, run: how, operation: 'run' })
    return reply.events(signal)
  }
}

/**
 * Reads a run to its end: the last step's text is the answer, or with `allSteps` that of all, as of an agent of steps;
 * members count in what it used. Throws when it failed, was stopped or filtered to nothing.
 */
export async function drainRun (events: BatchStream<RunEventBody | RunEvent>, { allSteps }: { readonly allSteps: boolean }): Promise<Omit<HeadlessResult, 'output'>> {
  const calls = new Map<string, HeadlessToolCall>()
  let text = ''
  let usage = noUsage
  let finishReason: FinishReason = 'other'
  let end: TerminalEvent | undefined
  for await (const batch of events) for (const event of batch) take(event)
  assertFinished(end, finishReason, text)
  return { text, usage, finishReason: end?.type === 'run-suspended' ? 'tool-calls' : finishReason, toolCalls: [...calls.values()] }

  function take (event: RunEventBody): void {
    if (event.type === 'usage') usage = addUsage(usage, event.buckets)
    if (event.agentPath !== undefined) return
    switch (event.type) {
      case 'step-start': if (!allSteps) text = ''; break
      case 'text-start': if (text !== '') text += '\n\n'; break
      case 'text-delta': text += event.delta; break
      case 'tool-input-complete': calls.set(event.callId, { callId: event.callId, toolName: event.toolName, input: event.input }); break
      case 'tool-input-invalid': calls.set(event.callId, { callId: event.callId, toolName: event.toolName, input: event.input, error: event.message }); break
      case 'tool-output': settle(event.callId, { output: event.output }); break
      case 'tool-error': settle(event.callId, { error: event.message }); break
      case 'message-end': finishReason = event.finishReason; break
      default: if (isTerminal(event)) end = event
    }
  }

  function settle (callId: string, result: { output: unknown } | { error: string }): void {
    const call = calls.get(callId)
    if (call !== undefined) calls.set(callId, { ...call, ...result })
  }
}

function assertFinished (end: TerminalEvent | undefined, finishReason: FinishReason, text: string): void {
  if (end?.type === 'run-failed' || end?.type === 'run-interrupted') throw new AppError(end.code, end.message)
  if (end === undefined || end.type === 'run-stopped') throw new AppError('conflict', 'The run was stopped before it was finished.')
  if (finishReason === 'content-filter' && text === '') throw new AppError('content_filtered', "The answer was withheld by the provider's content filter.")
}
