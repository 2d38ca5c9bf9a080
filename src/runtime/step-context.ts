import { randomUUID } from 'node:crypto'
import type { Answer, AskAgentOptions, ModelQuestion, StepContext } from '../agents/steps/step.ts'
import { AppError, isErrorCode } from '../errors.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { denialText } from '../messages/denial.ts'
import type { ModelRequest } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import type { Tool } from '../tools/tool.ts'
import type { Asides } from './asides.ts'
import { passGate, type GateResult } from './approval-gate.ts'
import { checkCall, type CheckedCall } from './checked-call.ts'
import { leastOf } from './call-estimate.ts'
import type { Crew } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import { createInputGauge } from './input-gauge.ts'
import { logToolCall } from './log-tool-call.ts'
import { modelStep } from './model-step.ts'
import { responseProblem, responseShape } from './response-shape.ts'
import { shownOutput } from './shown-output.ts'
import { stepHooks } from './step-hooks.ts'
import { runTool } from './tool-call.ts'
import { assembleTools, noTools } from './toolset.ts'

/** Runs another agent on a task. Its answer comes as unsigned text, what else it does signed, one deeper than who asks; it throws what broke it. */
export type AskMember = (agent: string, task: string, options?: AskAgentOptions) => AsyncGenerator<Batch<RunEventBody>, void>

export interface StepContextOptions {
  readonly frame: Frame
  readonly signal: AbortSignal
  readonly askAgent: AskMember
  readonly memory: StepContext['memory']
}

// Progress is transient: a reader that is far behind misses some of it rather than holding memory.
const maxUnreadProgress = 64

/** What the steps of one run work with. Usage and progress go to `asides` as they arise, whatever the step shows. */
export function createStepContext (options: StepContextOptions, asides: Asides): StepContext {
  const { frame } = options
  const { agent, history, path, state, metadata, run: { principal, threadId, runId, deps } } = frame
  const { signal, memory } = options
  const hooks = stepHooks(agent, hookContext(frame, signal), { state, log: deps.log })
  const fallbacks = agent.fallbackModels.map((id) => deps.models.get(id))
  const newest = history.findLast((message) => message.role === 'user')
  return { principal, threadId, runId, metadata, signal, messages: history, question: newest?.content ?? '', askModel, callTool, askAgent, memory }

  async function * askModel (question: ModelQuestion): Answer {
    const model = deps.models.get(question.model ?? agent.model)
    const shape = responseShape(question.responseFormat, 'responseFormat')
    const request = requestOf(question, shape?.schema)
    // Each question is a conversation of its own, so what the one before took says nothing of this one.
    const reservation = state.ledger.reserve(leastOf(model, request, createInputGauge()))
    if (reservation === undefined) throw new AppError('quota_exceeded', 'The budget of this run is used up.')
    const step = modelStep({
      ...hooks, model, fallbacks: question.model === undefined ? fallbacks : [], request, reservation, state, signal, runId,
      toolset: noTools, timeouts: agent.timeouts, holdText: false, log: deps.log, observer: deps.observer
    })
    const { text, finishReason } = yield * shownOutput(step, (event) => { asides.push(event) })
    if (text === '' && finishReason === 'content-filter') throw new AppError('content_filtered', "The answer was withheld by the provider's content filter.")
    if (text === '' && finishReason !== 'length') throw new AppError('provider_unavailable', 'The model gave an empty answer. Try again.')
    if (shape !== undefined && responseProblem(text, shape) !== undefined) throw new AppError('provider_unavailable', 'The model did not answer in the requested shape.')
    return text
  }

  function requestOf ({ instructions = '', messages = history, settings }: ModelQuestion, responseSchema: ModelRequest['responseSchema']): ModelRequest {
    return {
      instructions,
      messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages,
      tools: [],
      toolChoice: 'none',
      settings: { ...agent.modelSettings, ...settings },
      ...(responseSchema === undefined ? {} : { responseSchema })
    }
  }

  async function * askAgent (name: string, task: string, how?: AskAgentOptions): Answer {
    const shown = shownOutput(options.askAgent(name, task, how), (event) => { asides.push(event) }, path.length + 1)
    let text = ''
    for await (const output of shown) {
      if (typeof output === 'string') text += output
      yield output
    }
    return text
  }

  async function callTool (tool: Tool, given: unknown): Promise<unknown> {
    const callId = `call_${randomUUID()}`
    const call = await checkInput(tool, given, callId)
    assertAllowed(call, await passGate(call, frame))
    signal.throwIfAborted()
    logToolCall(deps.log, call)
    const tell = deps.observer?.toolCall({ runId, callId, toolName: tool.name, input: call.input })
    const context = { principal, threadId, runId, callId, agentPath: path, metadata, report }
    const outcome = await runTool(tool, call.input, context, { timeoutMs: tool.timeoutMs ?? agent.toolTimeoutMs, signal }).catch((error: unknown) => {
      tell?.({ ok: false, code: undefined, error })
      throw error
    })
    tell?.(outcome)
    if (outcome.ok) return outcome.output
    deps.log.warn({ err: outcome.cause, tool: tool.name, callId }, 'tool call failed')
    throw new AppError(isErrorCode(outcome.code) ? outcome.code : 'tool_failed', outcome.message, { cause: outcome.cause })
  }

  async function checkInput (tool: Tool, given: unknown, callId: string): Promise<CheckedCall & { ok: true }> {
    if (tool.execute === undefined) throw new AppError('configuration_error', `"${tool.name}" is answered by the user's client, so a step cannot call it.`)
    const { toolset } = await assembleTools({ tools: [tool], crew: noCrew }, { principal, threadId, runId, metadata, signal }, deps.log)
    const call = checkCall({ callId, modelName: toolset.modelName(tool.name), arguments: JSON.stringify(toJsonSafe(given ?? {})), complete: true }, toolset)
    if (!call.ok) throw new AppError('tool_failed', call.problem)
    return call
  }

  function report (message: string, fraction?: number): void {
    asides.push({ type: 'progress', message: String(message), ...(fraction === undefined ? {} : { fraction }) }, maxUnreadProgress)
  }
}

/** Steps cannot stop and go on, so nobody can be asked. */
function assertAllowed ({ toolName }: CheckedCall, gate: GateResult): void {
  if (gate.kind === 'ask') throw new AppError('approval_unavailable', `"${toolName}" needs somebody's approval, which a step has no way to ask for.`)
  if (gate.kind === 'decided') throw new AppError('tool_failed', `"${toolName}" was not allowed. ${denialText(gate.verdict.reason)}`)
}

function noCrew (): Crew {
  return { tools: [], roster: [] }
}
