import type { Usage } from '../events/usage.ts'
import type { ModelMessage } from '../models/model.ts'

/** A run after a step whose tools have run, as conditions see it. */
export interface StopFacts {
  /** Model calls of this agent's loop so far. */
  readonly step: number
  /** What this step called. */
  readonly calls: ReadonlyArray<{ readonly toolName: string, readonly input: unknown }>
  /** Names of all tools the loop has run. */
  readonly calledTools: ReadonlySet<string>
  /** Of the loop and everything below it. */
  readonly usage: Usage
  /** In US dollars; undefined where the price of a call is not known. */
  readonly costUsd: number | undefined
  /** Since the loop began. */
  readonly durationMs: number
  /** The conversation as the model would see it next. */
  readonly messages: readonly ModelMessage[]
}

/** Whether a run is to end after a step that ran tools. One that throws does not hold. */
export type StopCondition = (facts: StopFacts) => boolean | Promise<boolean>

/** After this many model calls that ran tools. */
export function stepCountIs (count: number): StopCondition {
  return ({ step }) => step >= count
}

/** Once the tool was called, whether or not it succeeded. */
export function hasToolCall (toolName: string): StopCondition {
  return ({ calls }) => calls.some((call) => call.toolName === toolName)
}

/** Once more tokens were used, input and output, members included. */
export function totalTokensExceed (tokens: number): StopCondition {
  return ({ usage }) => usage.input + usage.output > tokens
}

/** Once it cost more US dollars, members included. Never where the price of a call is not known. */
export function costExceeds (usd: number): StopCondition {
  return ({ costUsd }) => costUsd !== undefined && costUsd > usd
}

export function durationExceeds (ms: number): StopCondition {
  return ({ durationMs }) => durationMs > ms
}
