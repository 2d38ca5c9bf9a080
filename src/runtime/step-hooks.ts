import type { Agent } from '../agents/agent.ts'
import type { HookContext, UsageReport } from '../agents/hooks.ts'
import type { ModelRequest } from '../models/model.ts'
import type { RunLogger } from './log.ts'
import type { RunState } from './run-state.ts'
import { tellSafely } from './tell-safely.ts'

/** What an agent has to say to its model calls. */
export interface StepHooks {
  readonly beforeModel?: ((request: ModelRequest) => ModelRequest | Promise<ModelRequest>) | undefined
  readonly onUsage?: ((report: UsageReport) => void) | undefined
}

/** The agent's hooks around a model call, for one run. */
export function stepHooks ({ model, beforeModel, onUsage }: Agent, context: HookContext, { state, log }: { state: RunState, log: RunLogger }): StepHooks {
  return {
    beforeModel: beforeModel === undefined ? undefined : (request) => beforeModel({ model, step: state.step }, context, request),
    onUsage: onUsage === undefined ? undefined : (report) => { tellSafely('onUsage', () => onUsage(report, context), log) }
  }
}
