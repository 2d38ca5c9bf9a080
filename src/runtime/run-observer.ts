import type { FinishReason, TerminalEvent } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { ModelRequest } from '../models/model.ts'
import type { ToolOutcome } from './tool-call.ts'

export interface ObservedRun {
  readonly runId: string
  readonly threadId: string | undefined
  readonly agentId: string
  readonly agentName: string
  /** `provider:model`. */
  readonly model: string
}

export interface ObservedModelCall {
  readonly runId: string
  readonly model: string
  readonly request: ModelRequest
}

export type ModelCallEnd = {
  /** In US dollars, where the model's price is known. */
  readonly costUsd?: number | undefined
} & (
  | { readonly ok: true, readonly usage: Usage, readonly finishReason: FinishReason, readonly text: string, readonly calls: ReadonlyArray<{ readonly callId: string, readonly toolName: string, readonly arguments: string }> }
  /** `usage` where the call had said something before it broke off. */
  | { readonly ok: false, readonly error: unknown, readonly usage: Usage | undefined }
)

export interface ModelCallWatch {
  /** Something of the answer is there; said once. */
  readonly firstOutput: () => void
  readonly end: (end: ModelCallEnd) => void
}

export interface ObservedToolCall {
  readonly runId: string
  readonly callId: string
  readonly toolName: string
  readonly input: unknown
}

/** `error` is what broke the whole run meanwhile; a tool that failed is an outcome. */
export type ToolCallEnd = ToolOutcome | { readonly ok: false, readonly code: undefined, readonly error: unknown }

/**
 * Watches runs: told of the beginning of each piece of work and once of its end, never of a delta. It must not throw,
 * and nothing it is given may be changed.
 */
export interface RunObserver {
  readonly run: (run: ObservedRun) => (end: TerminalEvent) => void
  readonly modelCall: (call: ObservedModelCall) => ModelCallWatch
  readonly toolCall: (call: ObservedToolCall) => (end: ToolCallEnd) => void
}

/** One observer that tells several. */
export function observeWith (observers: readonly RunObserver[]): RunObserver | undefined {
  if (observers.length < 2) return observers[0]
  return {
    run: (run) => each(observers.map((observer) => observer.run(run))),
    modelCall (call) {
      const watches = observers.map((observer) => observer.modelCall(call))
      return {
        firstOutput: () => { for (const { firstOutput } of watches) firstOutput() },
        end: each(watches.map(({ end }) => end))
      }
    },
    toolCall: (call) => each(observers.map((observer) => observer.toolCall(call)))
  }
}

function each<E> (tell: ReadonlyArray<(end: E) => void>): (end: E) => void {
  return (end) => { for (const one of tell) one(end) }
}
