import { isArtifactTool } from '../artifacts/artifact-tool.ts'
import { AppError } from '../errors.ts'
import { estimateUsage } from '../models/estimate.ts'
import type { Retry } from '../models/call-model.ts'
import { callWithFallback, type Fallback } from '../models/call-with-fallback.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { KeptReasoning, Model, ModelEvent, ModelRequest } from '../models/model.ts'
import { costOf } from '../models/prices.ts'
import { delay, untilAborted } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import { createGrowingText, type GrowingText } from '../streams/growing-text.ts'
import { createBlockWriter } from './block-writer.ts'
import { checkCall, type CheckedCall } from './checked-call.ts'
import type { Compactor } from './compactor.ts'
import { isCrewTool } from './crew-tools.ts'
import type { Reservation } from './ledger.ts'
import type { RunState } from './run-state.ts'
import type { RunLogger } from './log.ts'
import type { ModelCallWatch, RunObserver } from './run-observer.ts'
import type { StepHooks } from './step-hooks.ts'
import type { Toolset } from './toolset.ts'

export interface ModelStepInput extends StepHooks {
  readonly model: Model
  /** Asked in turn where the model fails before anything can be seen of its answer. */
  readonly fallbacks?: readonly Model[] | undefined
  readonly request: ModelRequest
  readonly toolset: Toolset
  readonly state: RunState
  readonly timeouts: { readonly firstTokenMs: number, readonly idleMs: number }
  readonly signal: AbortSignal
  /** Of the state's messages. Shortens them where the provider finds them too long, and the model is asked again. */
  readonly compactor?: Compactor | undefined
  /** What the run's budgets keep for this call; released when it is over. */
  readonly reservation?: Reservation | undefined
  /** Keeps an answer without tool calls back for the caller to show or drop. */
  readonly holdText: boolean
  readonly log: RunLogger
  readonly runId: string
  readonly observer?: RunObserver | undefined
}

export interface ModelStepOutcome {
  readonly text: string
  /** What the model wants back when it is asked again. */
  readonly reasoning: readonly KeptReasoning[]
  readonly calls: readonly CheckedCall[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  /** The held answer, when `holdText` and the model called nothing. */
  readonly held: readonly RunEventBody[]
}

// Twice what any model can say in one call: only a broken one gets there, and it would fill the memory.
const maxCharacters = 1_000_000
// After this much, a call is read at 16,000 characters a second at most (about 4,000 tokens, more than any model
// writes), so that an upstream that pours out text without end is held back and not taken in as fast as it can.
const unpacedCharacters = 200_000
const charactersPerMs = 16
const maxPauseMs = 100

/**
 * One model call as events. Calls come out checked, so each has its input complete or invalid when the step ends. Usage
 * is reported also when the call breaks off, estimated where the provider told none.
 */
export async function * modelStep (input: ModelStepInput): AsyncGenerator<Batch<RunEventBody>, ModelStepOutcome> {
  const { state, toolset, fallbacks = [] } = input
  let { model, request } = input
  const blocks = createBlockWriter(state.nextBlockId)
  let callIds: Map<string, string> | undefined
  const calls: CheckedCall[] = []
  let held: RunEventBody[] | undefined = input.holdText ? [] : undefined
  const reasoning: KeptReasoning[] = []
  let paced = 0
  let thought: GrowingText | undefined
  const text = createGrowingText()
  let textIsWhole = false
  let characters = 0
  let usage: Usage | undefined
  let costUsd: number | undefined
  let finishReason: FinishReason = 'other'
  let watch: ModelCallWatch | undefined
  let silent = true
  /** Of calls beside this one, not shown yet. */
  const aside: RunEventBody[] = []
  let asked = false

  try {
    request = await preparedRequest(input)
    asked = !input.signal.aborted
    watch = watchCall()
    for await (const events of callWithFallback([model, ...fallbacks], request, { signal: input.signal, timeouts: input.timeouts, onRetry: logRetry, onFallback: fallBack, shorten: input.compactor === undefined ? undefined : shorten })) {
      if (silent) watch?.firstOutput()
      silent = false
      const out = aside.splice(0)
      for (const event of events) take(event, out)
      if (out.length > 0) yield out
      const pauseMs = pauseFor(characters - Math.max(paced, unpacedCharacters))
      paced = characters
      if (pauseMs > 0) await delay(pauseMs, input.signal)
      if (characters > maxCharacters) throw new AppError('provider_unavailable', 'The model did not stop writing, so its answer was cut.')
    }
  } catch (error) {
    // A provider that was asked and then left has read the request, whether or not it had begun to answer.
    const tookSome = characters > 0 || (asked && input.signal.aborted)
    const unreported = usage === undefined && tookSome ? [...aside, reportUsage(estimateUsage(request, characters), true)] : aside
    watch?.end({ ok: false, error, usage, costUsd })
    if (unreported.length > 0) yield unreported
    throw error
  } finally {
    input.reservation?.release()
  }

  const closing: RunEventBody[] = []
  blocks.close(afterHeld(closing))
  if (usage === undefined) closing.push(reportUsage(estimateUsage(request, characters), true))
  watch?.end({ ok: true, usage: usage!, costUsd, finishReason, text: text.toString(), calls }) // reported above at the latest
  if (closing.length > 0) yield closing
  return { text: text.toString(), reasoning, calls, finishReason, usage: usage!, held: held ?? [] }

  function take (event: ModelEvent, out: RunEventBody[]): void {
    switch (event.type) {
      case 'text-delta':
        text.add(textIsWhole ? `\n\n${event.delta}` : event.delta)
        textIsWhole = false
        characters += event.delta.length
        // What is shown is closed where it is shown: an answer that is held may never be.
        if (held?.length === 0) blocks.close(out)
        blocks.text(event.delta, held ?? out)
        break
      case 'reasoning-delta':
        characters += event.delta.length
        thought ??= createGrowingText()
        thought.add(event.delta)
        blocks.reasoning(event.delta, afterHeld(out))
        break
      case 'block-end':
        endBlock(event, afterHeld(out))
        break
      case 'provider-tool':
        providerTool(event, out)
        break
      case 'source':
        cite(event, out)
        break
      case 'tool-call-start':
        release(out)
        blocks.close(out)
        out.push({ type: 'tool-call-start', callId: newCallId(event.callId), toolName: toolset.byModelName(event.toolName)?.tool.name ?? event.toolName, ...presentationOf(event.toolName) })
        break
      case 'tool-input-delta':
        characters += event.delta.length
        out.push({ type: 'tool-input-delta', callId: knownCallId(event.callId), delta: event.delta })
        break
      case 'tool-call':
        takeCall(event, out)
        break
      case 'usage':
        out.push(reportUsage(event.usage, event.estimated))
        break
      case 'finish':
        finishReason = event.reason
        break
      default:
        event satisfies never
    }
  }

  function takeCall (event: ModelEvent & { type: 'tool-call' }, out: RunEventBody[]): void {
    const call = checkCall({ callId: knownCallId(event.callId), modelName: event.toolName, arguments: event.arguments, complete: event.complete }, toolset)
    const { callId, toolName } = call
    calls.push(call)
    if (call.ok) out.push({ type: 'tool-input-complete', callId, toolName, input: call.input, ...attributionOf(call) })
    else out.push({ type: 'tool-input-invalid', callId, toolName, input: call.input, message: call.problem })
  }

  function endBlock ({ key }: ModelEvent & { type: 'block-end' }, out: RunEventBody[]): void {
    if (key === undefined) {
      blocks.close(out)
    } else {
      reasoning.push({ ...key, text: thought?.toString() ?? '' })
      blocks.closeReasoning({ openai: { ...key } }, out)
    }
    thought = undefined
    textIsWhole = text.toString() !== ''
  }

  /** The provider's own call: announced once, with its input and result together as soon as they are known. */
  function providerTool ({ callId: providerId, toolName, outcome }: ModelEvent & { type: 'provider-tool' }, out: RunEventBody[]): void {
    release(out)
    blocks.close(out)
    if (callIds?.has(providerId) !== true) out.push({ type: 'tool-call-start', callId: newCallId(providerId), toolName, providerExecuted: true })
    if (outcome === undefined) return
    const callId = knownCallId(providerId)
    out.push({ type: 'tool-input-complete', callId, toolName, input: outcome.input })
    if (outcome.failed) out.push({ type: 'tool-error', callId, code: 'tool_failed', message: `The tool "${toolName}" failed.` })
    else out.push({ type: 'tool-output', callId, output: outcome.output })
  }

  function cite ({ sourceId, title, url }: ModelEvent & { type: 'source' }, out: RunEventBody[]): void {
    const index = state.citeSource(sourceId)
    if (index !== undefined) out.push({ type: 'source', index, sourceId, title, ...(url === undefined ? {} : { url }) })
  }

  /** Where what follows belongs: behind the answer that is held, once there is one. */
  function afterHeld (out: RunEventBody[]): RunEventBody[] {
    return held !== undefined && held.length > 0 ? held : out
  }

  function release (out: RunEventBody[]): void {
    if (held !== undefined) out.push(...held)
    held = undefined
  }

  function reportUsage (buckets: Usage, estimated: boolean): RunEventBody {
    usage = buckets
    costUsd = costOf(model, buckets)
    state.ledger.book(buckets, costUsd)
    if (!estimated) state.gauge.learn(request, buckets.input)
    const cost = costUsd === undefined ? {} : { costUsd }
    input.onUsage?.({ model: model.id, usage: buckets, ...cost, estimated })
    return { type: 'usage', model: model.id, buckets, ...cost, ...(estimated ? { estimated } : {}) }
  }

  function presentationOf (modelName: string): { title?: string, handoff?: string } {
    const tool = toolset.byModelName(modelName)?.tool
    const handoff = tool !== undefined && isCrewTool(tool) ? tool.member?.name : undefined
    return { ...(tool?.title === undefined ? {} : { title: tool.title }), ...(handoff === undefined ? {} : { handoff }) }
  }

  function newCallId (providerId: string): string {
    const callId = state.uniqueCallId(providerId)
    callIds ??= new Map()
    callIds.set(providerId, callId)
    return callId
  }

  function knownCallId (providerId: string): string {
    return callIds?.get(providerId) ?? newCallId(providerId)
  }

  function watchCall (): ModelCallWatch | undefined {
    return input.observer?.modelCall({ runId: input.runId, model: model.id, request })
  }

  async function shorten (error: AppError): Promise<ModelRequest | undefined> {
    const shorter = await input.compactor?.shorten(input.request, aside)
    if (shorter === undefined) return undefined
    endFailed(error)
    request = await preparedRequest({ ...input, request: shorter })
    watch = watchCall()
    return request
  }

  function fallBack ({ to, error }: Fallback): void {
    input.log.warn({ err: error, model: model.id, fallback: to.id }, 'another model is asked instead')
    endFailed(error)
    model = to
    watch = watchCall()
  }

  /** Of a call that another one takes the place of. */
  function endFailed (error: AppError): void {
    watch?.end({ ok: false, error, usage, costUsd })
    usage = undefined
    costUsd = undefined
    silent = true
  }

  function logRetry ({ attempt, delayMs, error }: Retry): void {
    input.log.warn({ err: error, attempt, delayMs, model: model.id }, 'the model call is tried again')
  }
}

/** A tool that asks one of several members tells which with its input, one that submits an artifact which that is. */
function attributionOf ({ offered: { tool }, input }: CheckedCall & { ok: true }): { attribution?: { handoff: string } | { artifact: string } } {
  if (isArtifactTool(tool)) return { attribution: { artifact: tool.artifact.name } }
  return isCrewTool(tool) && tool.member === undefined ? { attribution: { handoff: tool.delegation(input).agent.name } } : {}
}

async function preparedRequest ({ request, beforeModel, signal }: ModelStepInput): Promise<ModelRequest> {
  return beforeModel === undefined ? request : await untilAborted(Promise.resolve(beforeModel(request)), signal)
}

/** Milliseconds to hold a model back that has written this much more than it may without a pause. */
function pauseFor (characters: number): number {
  return Math.min(characters / charactersPerMs, maxPauseMs)
}
