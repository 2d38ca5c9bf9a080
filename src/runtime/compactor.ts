import type { Agent } from '../agents/agent.ts'
import type { ModelRegistry } from '../agents/registry.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { ModelMessage, ModelRequest } from '../models/model.ts'
import { budgetedSideCall } from './budgeted-side-call.ts'
import { compact } from './compaction.ts'
import type { RunLogger } from './log.ts'
import type { RunObserver } from './run-observer.ts'
import type { RunState } from './run-state.ts'
import type { StepHooks } from './step-hooks.ts'
import type { SummaryCache } from './summary-cache.ts'

export interface CompactorOptions extends Pick<StepHooks, 'onUsage'> {
  readonly models: ModelRegistry
  readonly state: RunState
  readonly runId: string
  readonly signal: AbortSignal
  readonly log: RunLogger
  readonly observer?: RunObserver | undefined
  readonly summaries?: SummaryCache | undefined
}

/** Keeps the requests of one agent's loop within its model's context window. */
export interface Compactor {
  /**
   * The request with as much of the state's messages as fits. What was shortened stays so for the rest of the loop, and
   * what came since is added to it; the state keeps the conversation whole. Usage of what it takes to sum up is pushed to `out`.
   * Throws the signal's reason when that aborts.
   */
  readonly fit: (request: ModelRequest, out: RunEventBody[]) => Promise<ModelRequest>
  /** A shorter request for a provider that found this one too long; undefined where nothing more can go. */
  readonly shorten: (request: ModelRequest, out: RunEventBody[]) => Promise<ModelRequest | undefined>
}

// Characters of a summary, which is cut to its tokens afterwards.
const maxSummaryCharacters = 40_000

/** Undefined where the agent wants none, or nothing is known of the window of its models. The smallest of them counts. */
export function compactorOf (agent: Agent, options: CompactorOptions): Compactor | undefined {
  const { models, state, signal, log } = options
  const model = models.get(agent.model)
  const windows = [model, ...agent.fallbackModels.map((id) => models.get(id))].flatMap(({ contextWindow }) => contextWindow ?? [])
  if (agent.compaction === undefined || model.contextWindow === undefined) return undefined
  const policy = agent.compaction
  const contextWindow = Math.min(...windows)
  /** What stands for so many of the state's messages. */
  let short: { readonly of: number, readonly messages: readonly ModelMessage[] } = { of: 0, messages: [] }

  return {
    async fit (request, out) {
      const whole = asItStands(request)
      return await compacted(whole, 'measure', out) ?? whole
    },
    shorten: (request, out) => compacted(asItStands(request), 'overflow', out)
  }

  function asItStands (request: ModelRequest): ModelRequest {
    return { ...request, messages: short.of === 0 ? state.messages : [...short.messages, ...state.messages.slice(short.of)] }
  }

  async function compacted (request: ModelRequest, why: 'measure' | 'overflow', out: RunEventBody[]): Promise<ModelRequest | undefined> {
    const summaries = { modelId: model.id, cache: options.summaries, ask: (asked: ModelRequest) => askForSummary(asked, out) }
    const messages = await compact(request, { policy, contextWindow, summaries, log, gauge: state.gauge, question: state.question }, why)
    if (messages === request.messages) return undefined
    short = { messages, of: state.messages.length }
    return { ...request, messages }
  }

  async function askForSummary (request: ModelRequest, out: RunEventBody[]): Promise<string | undefined> {
    const { runId, observer, onUsage } = options
    const call = await budgetedSideCall(model, request, { state, runId, observer, onUsage, out, signal, timeouts: agent.timeouts, maxCharacters: maxSummaryCharacters })
    signal.throwIfAborted()
    if (call?.failure !== undefined) log.warn({ err: call.failure.error }, 'a summary could not be made')
    return call?.failure === undefined ? call?.text : undefined
  }
}
