import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry, ModelRegistry } from '../agents/registry.ts'
import type { Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { AttachedFile, Attachment } from '../messages/attachment.ts'
import type { TurnMemory } from '../memories/turn-memory.ts'
import type { JsonSchema, ModelMessage, ModelSettings } from '../models/model.ts'
import type { Checked } from '../tools/schema.ts'
import type { RunLogger } from './log.ts'
import type { RunObserver } from './run-observer.ts'
import type { SummaryCache } from './summary-cache.ts'
import type { Resume, Suspension } from './suspension.ts'

export interface RunInput {
  readonly runId: string
  readonly messageId: string
  readonly threadId: string | undefined
  readonly agent: Agent
  readonly principal: Principal
  readonly metadata: Readonly<Record<string, unknown>>
  /** The conversation, ending with what the model is to answer. */
  readonly history: readonly ModelMessage[]
  readonly mode: 'chat' | 'headless'
  /** Headless runs make one call without tools unless told otherwise. */
  readonly useTools: boolean
  /**
   * Which calls may be left for somebody to answer or to allow; none where nobody can resume the run. `client-tools`: the
   * root's own calls of these, because the client goes on by itself with what it keeps.
   */
  readonly suspendsFor: 'everything' | 'client-tools' | 'nothing'
  /** What the caller of this run alone asks for; said after the agent's own instructions, as the caller's. */
  readonly callerInstructions?: string
  /** Of this run, over the agent's own. */
  readonly settings?: ModelSettings
  /** The answer must be one JSON value of this shape. */
  readonly response?: { readonly schema: JsonSchema, readonly check: (value: unknown) => Checked } | undefined
  /** False where the caller could not show what to ask next; where true or absent the agent decides. */
  readonly suggests?: boolean
  /** The agent's memory for this turn; absent where it has none, or nothing is stored. */
  readonly memory?: TurnMemory | undefined
  /** The newest message's attachments, for members whose coordinator shares them. */
  readonly attachments?: readonly Attachment[]
  /** All files of the conversation that its model is told of, for what the agent has to work on them. */
  readonly files?: readonly AttachedFile[]
  /** A further leg of a suspended message: where it stopped, and the answers its calls got. */
  readonly resume?: Resume | undefined
  /** Told what to keep of a run that will wait, before the events that say so. */
  readonly onSuspend?: (suspension: Suspension) => void
}

export interface RunDeps {
  readonly models: ModelRegistry
  /** Where coordinators find their crew. */
  readonly agents: Pick<AgentRegistry, 'find'>
  /** Whom they may ask for this caller. */
  readonly permissions: Pick<Permissions, 'may'>
  readonly log: RunLogger
  /** Characters of a tool result that reach the model, 0 for all. */
  readonly toolOutputLimit: number
  /** Characters of what a member gathered that stand in for its report, 0 for all. */
  readonly subagentDigestLimit: number
  /** Milliseconds that an approval is waited for. */
  readonly approvalTtlMs: number
  readonly observer?: RunObserver | undefined
  /** What summaries of long conversations are kept in. */
  readonly summaries?: SummaryCache | undefined
}

export interface LoopLimits { readonly maxSteps: number, readonly maxToolCalls: number }

/** Chat may go on for long; a headless run is a bounded errand unless its agent says otherwise. */
export function limitsOf ({ agent, mode }: Pick<RunInput, 'agent' | 'mode'>): LoopLimits {
  const defaults = mode === 'chat' ? { maxSteps: 100, maxToolCalls: Infinity } : { maxSteps: 6, maxToolCalls: 6 }
  return {
    maxSteps: agent.maxSteps ?? defaults.maxSteps,
    maxToolCalls: agent.maxToolCalls === null ? Infinity : agent.maxToolCalls ?? defaults.maxToolCalls
  }
}
