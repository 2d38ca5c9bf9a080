import { isArtifactTool } from '../artifacts/artifact-tool.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { KeptReasoning, Model, ModelEvent, ModelRequest } from '../models/model.ts'
import { costOf } from '../models/prices.ts'
import { createGrowingText, type GrowingText } from '../streams/growing-text.ts'
import { closeBlock, closeReasoning, newBlocks, writeReasoning, writeText, type Blocks } from './blocks.ts'
import { checkCall, type CheckedCall } from './checked-call.ts'
import { isCrewTool } from './crew-tools.ts'
import type { RunState } from './run-state.ts'
import type { StepHooks } from './step-hooks.ts'
import type { Toolset } from './toolset.ts'

/** What a model has answered so far in one step. */
export interface StepAnswer {
  readonly state: RunState
  readonly toolset: Toolset
  readonly onUsage: StepHooks['onUsage']
  /** What is asked, and whom: both change when a call fails and another takes its place. */
  model: Model
  request: ModelRequest
  readonly blocks: Blocks
  readonly text: GrowingText
  /** What is said next begins a paragraph. */
  textIsWhole: boolean
  thought: GrowingText | undefined
  readonly reasoning: KeptReasoning[]
  readonly calls: CheckedCall[]
  /** Ours by the provider's. */
  callIds: Map<string, string> | undefined
  /** Kept back while it calls nothing; undefined where it is shown. */
  held: RunEventBody[] | undefined
  characters: number
  usage: Usage | undefined
  costUsd: number | undefined
  finishReason: FinishReason
}

export interface StepAnswerOptions extends Pick<StepAnswer, 'state' | 'toolset' | 'onUsage' | 'model' | 'request'> {
  readonly holdText: boolean
}

export function newAnswer ({ state, toolset, onUsage, model, request, holdText }: StepAnswerOptions): StepAnswer {
  return {
    state, toolset, onUsage, model, request,
    blocks: newBlocks(state.nextBlockId),
    text: createGrowingText(),
    textIsWhole: false,
    thought: undefined,
    reasoning: [],
    calls: [],
    callIds: undefined,
    held: holdText ? [] : undefined,
    characters: 0,
    usage: undefined,
    costUsd: undefined,
    finishReason: 'other'
  }
}

/** Takes one event of the model, and adds to `out` what there is to tell of it. */
export function take (answer: StepAnswer, event: ModelEvent, out: RunEventBody[]): void {
  switch (event.type) {
    case 'text-delta':
      answer.text.add(answer.textIsWhole ? `\n\n${event.delta}` : event.delta)
      answer.textIsWhole = false
      answer.characters += event.delta.length
      // What is shown is closed where it is shown: an answer that is held may never be.
      if (answer.held?.length === 0) closeBlock(answer.blocks, out)
      writeText(answer.blocks, event.delta, answer.held ?? out)
      break
    case 'reasoning-delta':
      answer.characters += event.delta.length
      answer.thought ??= createGrowingText()
      answer.thought.add(event.delta)
      writeReasoning(answer.blocks, event.delta, afterHeld(answer, out))
      break
    case 'block-end':
      endBlock(answer, event, afterHeld(answer, out))
      break
    case 'provider-tool':
      providerTool(answer, event, out)
      break
    case 'source':
      cite(answer, event, out)
      break
    case 'tool-call-start':
      release(answer, out)
      closeBlock(answer.blocks, out)
      out.push({ type: 'tool-call-start', callId: newCallId(answer, event.callId), toolName: answer.toolset.byModelName(event.toolName)?.tool.name ?? event.toolName, ...presentationOf(answer, event.toolName) })
      break
    case 'tool-input-delta':
      answer.characters += event.delta.length
      out.push({ type: 'tool-input-delta', callId: knownCallId(answer, event.callId), delta: event.delta })
      break
    case 'tool-call':
      takeCall(answer, event, out)
      break
    case 'usage':
      out.push(reportUsage(answer, event.usage, event.estimated))
      break
    case 'finish':
      answer.finishReason = event.reason
      break
    default:
      event satisfies never
  }
}

function takeCall (answer: StepAnswer, event: ModelEvent & { type: 'tool-call' }, out: RunEventBody[]): void {
  const call = checkCall({ callId: knownCallId(answer, event.callId), modelName: event.toolName, arguments: event.arguments, complete: event.complete }, answer.toolset)
  const { callId, toolName } = call
  answer.calls.push(call)
  if (call.ok) out.push({ type: 'tool-input-complete', callId, toolName, input: call.input, ...attributionOf(call) })
  else out.push({ type: 'tool-input-invalid', callId, toolName, input: call.input, message: call.problem })
}

function endBlock (answer: StepAnswer, { key }: ModelEvent & { type: 'block-end' }, out: RunEventBody[]): void {
  if (key === undefined) {
    closeBlock(answer.blocks, out)
  } else {
    answer.reasoning.push({ ...key, text: answer.thought?.toString() ?? '' })
    closeReasoning(answer.blocks, { openai: { ...key } }, out)
  }
  answer.thought = undefined
  answer.textIsWhole = answer.text.toString() !== ''
}

/** The provider's own call: announced once, with its input and result together as soon as they are known. */
function providerTool (answer: StepAnswer, { callId: providerId, toolName, outcome }: ModelEvent & { type: 'provider-tool' }, out: RunEventBody[]): void {
  release(answer, out)
  closeBlock(answer.blocks, out)
  if (answer.callIds?.has(providerId) !== true) out.push({ type: 'tool-call-start', callId: newCallId(answer, providerId), toolName, providerExecuted: true })
  if (outcome === undefined) return
  const callId = knownCallId(answer, providerId)
  out.push({ type: 'tool-input-complete', callId, toolName, input: outcome.input })
  if (outcome.failed) out.push({ type: 'tool-error', callId, code: 'tool_failed', message: `The tool "${toolName}" failed.` })
  else out.push({ type: 'tool-output', callId, output: outcome.output })
}

function cite (answer: StepAnswer, { sourceId, title, url }: ModelEvent & { type: 'source' }, out: RunEventBody[]): void {
  const index = answer.state.citeSource(sourceId)
  if (index !== undefined) out.push({ type: 'source', index, sourceId, title, ...(url === undefined ? {} : { url }) })
}

/** Where what follows belongs: behind the answer that is held, once there is one. */
export function afterHeld (answer: StepAnswer, out: RunEventBody[]): RunEventBody[] {
  return answer.held !== undefined && answer.held.length > 0 ? answer.held : out
}

function release (answer: StepAnswer, out: RunEventBody[]): void {
  if (answer.held !== undefined) out.push(...answer.held)
  answer.held = undefined
}

/** Books what the call took. */
export function reportUsage (answer: StepAnswer, buckets: Usage, estimated: boolean): RunEventBody {
  answer.usage = buckets
  answer.costUsd = costOf(answer.model, buckets)
  answer.state.ledger.book(buckets, answer.costUsd)
  if (!estimated) answer.state.gauge.learn(answer.request, buckets.input)
  const cost = answer.costUsd === undefined ? {} : { costUsd: answer.costUsd }
  answer.onUsage?.({ model: answer.model.id, usage: buckets, ...cost, estimated })
  return { type: 'usage', model: answer.model.id, buckets, ...cost, ...(estimated ? { estimated } : {}) }
}

function presentationOf (answer: StepAnswer, modelName: string): { title?: string, handoff?: string } {
  const tool = answer.toolset.byModelName(modelName)?.tool
  const handoff = tool !== undefined && isCrewTool(tool) ? tool.member?.name : undefined
  return { ...(tool?.title === undefined ? {} : { title: tool.title }), ...(handoff === undefined ? {} : { handoff }) }
}

function newCallId (answer: StepAnswer, providerId: string): string {
  const callId = answer.state.uniqueCallId(providerId)
  answer.callIds ??= new Map()
  answer.callIds.set(providerId, callId)
  return callId
}

function knownCallId (answer: StepAnswer, providerId: string): string {
  return answer.callIds?.get(providerId) ?? newCallId(answer, providerId)
}

/** A tool that asks one of several members tells which with its input, one that submits an artifact which that is. */
function attributionOf ({ offered: { tool }, input }: CheckedCall & { ok: true }): { attribution?: { handoff: string } | { artifact: string } } {
  if (isArtifactTool(tool)) return { attribution: { artifact: tool.artifact.name } }
  return isCrewTool(tool) && tool.member === undefined ? { attribution: { handoff: tool.delegation(input).agent.name } } : {}
}
