import { untilAborted } from '../streams/abort.ts'
import { compactorOf, type Compactor } from './compactor.ts'
import type { Frame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import { instructionsFor } from './instructions.ts'
import { stepHooks, type StepHooks } from './step-hooks.ts'

/** What all model calls of one agent's loop have in common, made before the first of them. */
export interface Asking {
  readonly instructions: string
  readonly compactor: Compactor | undefined
  readonly hooks: StepHooks
}

/** Throws what the agent's hook throws, and the signal's reason when that aborts. */
export async function beginAsking (frame: Frame, signal: AbortSignal): Promise<Asking> {
  const { agent, state, run: { runId, deps: { models, log, observer, summaries } } } = frame
  const context = hookContext(frame, signal)
  const hooks = stepHooks(agent, context, { state, log })
  return {
    hooks,
    compactor: compactorOf(agent, { models, state, runId, signal, log, observer, summaries, onUsage: hooks.onUsage }),
    instructions: agent.systemPrompt === undefined ? agent.instructions : await untilAborted(instructionsFor(agent, context), signal)
  }
}
