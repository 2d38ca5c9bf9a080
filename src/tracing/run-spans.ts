import { SpanKind, SpanStatusCode, trace, type Attributes, type Context, type Span, type Tracer } from '@opentelemetry/api'
import { isAppError, RunStopped } from '../errors.ts'
import type { TerminalEvent } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { RunObserver } from '../runtime/run-observer.ts'
import { messageContent, noContent } from './message-content.ts'

export interface RunSpansOptions {
  readonly tracer: Tracer
  /** Where a run that begins now belongs: to the request that is being handled. */
  readonly activeContext: () => Context
  /** Whether spans hold what is said. */
  readonly content: 'captured' | 'left-out'
}

interface OpenRun { readonly span: Span, readonly context: Context, readonly threadId: string | undefined }

/** Runs as spans, with the conventions for generative AI: a run, below it its model calls and its tool calls. */
export function createRunSpans ({ tracer, activeContext, content }: RunSpansOptions): RunObserver {
  const open = new Map<string, OpenRun>()
  const said = content === 'captured' ? messageContent : noContent

  return {
    run ({ runId, threadId, agentId, agentName, model }) {
      const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.id': agentId, 'gen_ai.agent.name': agentName, 'parley.run.id': runId, ...modelOf(model), ...conversation(threadId) }
      const parent = activeContext()
      const span = tracer.startSpan(`invoke_agent ${agentName}`, { kind: SpanKind.INTERNAL, attributes }, parent)
      open.set(runId, { span, threadId, context: trace.setSpan(parent, span) })
      return (end) => {
        open.delete(runId)
        span.setAttribute('parley.run.end', end.type.slice('run-'.length))
        finish(span, failureOf(end))
      }
    },

    modelCall ({ runId, model, request }) {
      const run = open.get(runId)
      const attributes = { 'gen_ai.operation.name': 'chat', ...modelOf(model), ...conversation(run?.threadId), ...settingsOf(request.settings), ...said.request(request) }
      const span = tracer.startSpan(`chat ${modelOf(model)['gen_ai.request.model']}`, { kind: SpanKind.CLIENT, attributes }, run?.context)
      return {
        firstOutput: () => { span.addEvent('gen_ai.first_output') },
        end (end) {
          if (end.usage !== undefined) span.setAttributes(usageOf(end.usage))
          if (end.ok) span.setAttributes({ 'gen_ai.response.finish_reasons': [end.finishReason], ...said.answer(end) })
          finish(span, end.ok ? undefined : errorType(end.error))
        }
      }
    },

    toolCall ({ runId, callId, toolName, input }) {
      const run = open.get(runId)
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': toolName, 'gen_ai.tool.call.id': callId, 'gen_ai.tool.type': 'function', ...conversation(run?.threadId), ...said.toolInput(input) }
      const span = tracer.startSpan(`execute_tool ${toolName}`, { kind: SpanKind.INTERNAL, attributes }, run?.context)
      return (end) => {
        if (end.ok) span.setAttributes(said.toolOutput(end.output))
        finish(span, end.ok ? undefined : end.code ?? errorType(end.error))
      }
    }
  }
}

/** Ends a span; the status says no more than the kind of error, because messages of errors may repeat what was said. */
function finish (span: Span, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute('error.type', errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function failureOf (end: TerminalEvent): string | undefined {
  return end.type === 'run-failed' || end.type === 'run-interrupted' ? end.code : undefined
}

/** Being stopped is no error. */
function errorType (error: unknown): string | undefined {
  if (error instanceof RunStopped) return undefined
  return isAppError(error) ? error.code : 'unknown'
}

function modelOf (id: string) {
  const colon = id.indexOf(':')
  return { 'gen_ai.provider.name': colon === -1 ? id : id.slice(0, colon), 'gen_ai.request.model': id.slice(colon + 1) }
}

function conversation (threadId: string | undefined): Attributes {
  return threadId === undefined ? {} : { 'gen_ai.conversation.id': threadId }
}

function settingsOf ({ temperature, topP, maxOutputTokens }: { readonly temperature?: number | undefined, readonly topP?: number | undefined, readonly maxOutputTokens?: number | undefined }): Attributes {
  return {
    ...(temperature === undefined ? {} : { 'gen_ai.request.temperature': temperature }),
    ...(topP === undefined ? {} : { 'gen_ai.request.top_p': topP }),
    ...(maxOutputTokens === undefined ? {} : { 'gen_ai.request.max_tokens': maxOutputTokens })
  }
}

function usageOf ({ input, output, cachedRead }: Usage): Attributes {
  return { 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output, 'gen_ai.usage.cache_read.input_tokens': cachedRead }
}
