import { attributionOf, isMemberNarration } from '../../messages/attribution.ts'
import { jsonSafe } from '../../messages/json-safe.ts'
import type { MessagePart } from '../../messages/parts.ts'
import { partsToEvents } from '../../messages/replay.ts'
import { wholePart, type WholePartEvent } from '../../messages/whole-parts.ts'
import { createMetadata } from '../ai-sdk/metadata.ts'
import type { FinishReason, RunEvent, RunEventBody, RunEventOf } from '../../events/run-event.ts'
import type { EncodeOptions } from '../protocol.ts'
import { createOpenApprovals } from './approvals.ts'
import { custom, frame, type Notes } from './event-frame.ts'
import { createMessageIds } from './message-ids.ts'
import { createOpenBlocks } from './open-blocks.ts'
import { createSubagents } from './subagents.ts'
import { createUsageCollector } from './token-usage.ts'

export interface AgUiOptions extends EncodeOptions {
  /** The client's name for this run, told back to it; ours where there is none. */
  readonly clientRunId?: string
  /** The messages a client is to go back to, because it has some of the answer that now comes from its beginning. */
  readonly rewindTo?: readonly unknown[] | undefined
}

interface Call { readonly toolName: string, readonly notes: Notes, hasInput: boolean, isAnswered: boolean }

/**
 * Frames of one stream, event by event, in types and fields that the clients 0.0.59 and 1.0.0 both accept. `full` has
 * two outcomes that only clients of the protocol's version 1.0 know.
 */
export function createFrameWriter ({ initialParts = [], metadata: extra = {}, profile = 'portable', clientRunId, rewindTo }: AgUiOptions): (event: RunEvent) => string {
  const metadata = createMetadata(extra)
  const usage = createUsageCollector()
  const ids = createMessageIds()
  const blocks = createOpenBlocks()
  const calls = new Map<string, Call>()
  const approvals = createOpenApprovals()
  const subagents = createSubagents()
  let run = { threadId: '', runId: '' }
  let threadId: string | undefined
  let openStep: string | undefined

  return (event) => {
    metadata.observe(event)
    usage.observe(event)
    return isMemberNarration(event) ? '' : frames(event)
  }

  function frames (event: RunEventBody): string {
    switch (event.type) {
      // Not JSON.stringify of the whole: these two are nearly all there is on the wire.
      case 'text-delta': return content('TEXT_MESSAGE_CONTENT', blocks.idOf('text', event.blockId), event.delta)
      case 'reasoning-delta': return content('REASONING_MESSAGE_CONTENT', blocks.idOf('reasoning', event.blockId), event.delta)
      case 'text-start': return `data: {"type":"TEXT_MESSAGE_START","messageId":${blocks.open('text', event.blockId, ids.forText())},"role":"assistant"}\n\n`
      case 'text-end': return `data: {"type":"TEXT_MESSAGE_END","messageId":${blocks.close('text', event.blockId)}}\n\n`
      case 'reasoning-start': return reasoningStart(event)
      case 'reasoning-end': return reasoningEnd(event)
      case 'message-start': return start(event)
      case 'step-start': return endStep() + beginStep(event)
      case 'step-end': return endStep()
      case 'tool-call-start': return callStart(event)
      case 'tool-input-delta': return args(event.callId, event.delta)
      case 'tool-input-complete': return inputComplete(event)
      case 'tool-input-invalid': return inputInvalid(event)
      case 'tool-output': return event.preliminary === true
        ? custom('preliminary-output', { toolCallId: event.callId, output: jsonSafe(event.output) })
        : result(event.callId, textOf(event.output))
      case 'tool-error': return result(event.callId, event.message, { state: 'output-error', code: event.code })
      case 'tool-denied': return result(event.callId, event.reason === undefined ? 'Denied.' : `Denied: ${event.reason}`, { state: 'output-denied' })
      case 'approval-requested':
        approvals.ask(event, calls.get(event.callId)?.toolName ?? 'A tool')
        return ''
      case 'data': return custom(event.name, jsonSafe(event.data), dataNotes(event))
      case 'source': case 'file': return custom(event.type, wholePart(event, threadId))
      case 'suggestions': return custom('suggestions', { suggestions: event.suggestions })
      case 'title': return custom('title', { title: event.title })
      case 'progress': return custom('progress', progressOf(event))
      case 'subagent-start': return subagents.begin(event) + custom('subagent', dataOf(event))
      case 'subagent-update': return custom('subagent', dataOf(event))
      case 'subagent-end': return custom('subagent', dataOf(event)) + subagents.end(event)
      case 'snapshot': return partsToEvents(event.parts as MessagePart[], { end: 'open' }).map(frames).join('') // made by an assembler
      case 'usage': case 'message-end': return ''
      case 'run-completed': return finish('completed', metadata.finishReason() ?? 'stop')
      case 'run-suspended': return finish('suspended', 'tool-calls', suspension(event))
      case 'run-stopped': return finish('stopped', 'other', profile === 'full' ? { type: 'cancelled' } : undefined)
      case 'run-failed': return fail(event, 'failed')
      case 'run-interrupted': return fail(event, 'interrupted')
      default: return event satisfies never
    }
  }

  function start (event: RunEventOf<'message-start'>): string {
    threadId = event.threadId
    run = { threadId: threadId ?? '', runId: clientRunId ?? event.runId }
    ids.begin(event.messageId)
    // What the client has already: only its ids and its calls count here.
    partsToEvents(initialParts).forEach(frames)
    return frame({ type: 'RUN_STARTED', ...run }) + (rewindTo === undefined ? '' : frame({ type: 'MESSAGES_SNAPSHOT', messages: rewindTo }))
  }

  function beginStep ({ step }: RunEventOf<'step-start'>): string {
    ids.beginStep()
    openStep = `step-${step}`
    return frame({ type: 'STEP_STARTED', stepName: openStep })
  }

  function endStep (): string {
    const stepName = openStep
    openStep = undefined
    return stepName === undefined ? '' : frame({ type: 'STEP_FINISHED', stepName })
  }

  function reasoningStart ({ blockId }: RunEventOf<'reasoning-start'>): string {
    const id = blocks.open('reasoning', blockId, ids.forReasoning())
    return `data: {"type":"REASONING_START","messageId":${id}}\n\ndata: {"type":"REASONING_MESSAGE_START","messageId":${id},"role":"reasoning"}\n\n`
  }

  function reasoningEnd ({ blockId }: RunEventOf<'reasoning-end'>): string {
    const id = blocks.close('reasoning', blockId)
    return `data: {"type":"REASONING_MESSAGE_END","messageId":${id}}\n\ndata: {"type":"REASONING_END","messageId":${id}}\n\n`
  }

  function callStart (event: RunEventOf<'tool-call-start'>): string {
    const { callId, toolName, title, dynamic, handoff, providerExecuted } = event
    const notes = {
      ...attributionOf(event, handoff)?.['parley'],
      ...(title === undefined ? {} : { title }), ...(dynamic === true ? { dynamic } : {}), ...(providerExecuted === true ? { providerExecuted } : {})
    }
    calls.set(callId, { toolName, notes, hasInput: false, isAnswered: false })
    return frame({ type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: toolName, parentMessageId: ids.forCall() }, notes)
  }

  function args (callId: string, delta: string): string {
    if (delta === '') return ''
    const call = calls.get(callId)
    if (call !== undefined) call.hasInput = true
    return frame({ type: 'TOOL_CALL_ARGS', toolCallId: callId, delta })
  }

  /** Arguments that came whole are said in one piece; notes that came with them are added to those of the beginning. */
  function inputComplete ({ callId, input, attribution }: RunEventOf<'tool-input-complete'>): string {
    const call = calls.get(callId)
    const notes = attribution === undefined ? undefined : { ...call?.notes, ...jsonSafe(attribution) as Notes } // JSON of an object
    return (call?.hasInput === true ? '' : args(callId, JSON.stringify(jsonSafe(input)))) + frame({ type: 'TOOL_CALL_END', toolCallId: callId }, notes)
  }

  function inputInvalid ({ callId, input, message }: RunEventOf<'tool-input-invalid'>): string {
    const missing = calls.get(callId)?.hasInput === true ? '' : args(callId, textOf(input))
    return missing + frame({ type: 'TOOL_CALL_END', toolCallId: callId }) + result(callId, message, { state: 'output-error' })
  }

  /** Told once: a client would show a second result as a second message. */
  function result (callId: string, content: string, notes?: Notes): string {
    const call = calls.get(callId)
    if (call?.isAnswered === true) return ''
    if (call !== undefined) call.isAnswered = true
    approvals.settle(callId)
    return frame({ type: 'TOOL_CALL_RESULT', messageId: ids.forResult(callId), toolCallId: callId, content, role: 'tool' }, notes)
  }

  /** Calls that the client answers leave the run completed: an interrupt would have to be answered by name. */
  function suspension ({ pendingCalls, approvals: waitedFor }: RunEventOf<'run-suspended'>): object | undefined {
    const interrupts = approvals.interrupts(waitedFor)
    if (interrupts.length > 0) return { type: 'interrupt', interrupts }
    return profile === 'full' ? { type: 'success', pendingToolCallIds: pendingCalls } : undefined
  }

  function finish (status: string, finishReason: FinishReason, outcome?: object): string {
    return subagents.close() + endStep() + frame({ type: 'RUN_FINISHED', ...run, ...(outcome === undefined ? {} : { outcome }), ...spent() }, metadata.at(status, finishReason))
  }

  function fail ({ code, message, retryable, ref }: RunEventOf<'run-failed' | 'run-interrupted'>, status: string): string {
    return subagents.close() + endStep() + frame({ type: 'RUN_ERROR', message, code, ...spent() }, { ...metadata.at(status, 'error'), retryable, ref })
  }

  function spent (): object {
    const entries = usage.entries()
    return entries.length === 0 ? {} : { usage: entries }
  }

  function dataOf (event: WholePartEvent): unknown {
    const part = wholePart(event, threadId)
    return 'data' in part ? part.data : part
  }
}

function content (type: string, id: string, delta: string): string {
  return delta === '' ? '' : `data: {"type":"${type}","messageId":${id},"delta":${JSON.stringify(delta)}}\n\n`
}

/** Results and arguments are texts here: strings as they are, everything else as JSON. */
function textOf (value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(jsonSafe(value))
}

function dataNotes ({ id, transient }: RunEventOf<'data'>): Notes {
  return { ...(id === undefined ? {} : { id }), ...(transient === true ? { transient } : {}) }
}

function progressOf ({ agentPath = [], callId, message, fraction }: RunEventOf<'progress'>): object {
  return { agentPath, ...(callId === undefined ? {} : { toolCallId: callId }), message, ...(fraction === undefined ? {} : { fraction }) }
}
