import { z } from 'zod'
import type { Principal } from '../../auth/principal.ts'
import type { JsonSchema, ModelMessage, ModelSettings } from '../../models/model.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Metadata } from '../metadata.ts'

/** What a step shows besides text. `fraction` is 0 to 1; one that is no number is left out. */
export const shownSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('file'), mediaType: z.string(), url: z.string().optional(), fileId: z.string().optional(), name: z.string().optional() }),
  z.object({ type: z.literal('progress'), message: z.string(), fraction: z.number().optional().catch(undefined) })
])

/** What a user sees of a step: text as it comes, files, and how far it is. */
export type ShownOutput = string | Readonly<z.output<typeof shownSchema>>

export interface StateOutput<S> { readonly type: 'state', readonly state: S }

/** What a step says: what is shown, and the state that the next step gets. */
export type StepOutput<S> = ShownOutput | StateOutput<S>

/**
 * One part of a pipeline. It gets the state as the step before left it, which nobody changes: a step that wants another
 * one yields it. What else it yields (reasoning, events of tools) is not shown.
 */
export type Step<S> = (state: S, context: StepContext) => AsyncIterable<StepOutput<S>>

/** Text that somebody says: shown as far as it is yielded on, and whole at its end. */
export type Answer = AsyncGenerator<ShownOutput, string>

export interface ModelQuestion {
  readonly instructions?: string
  /** One question, or a conversation; that of the thread when absent. */
  readonly messages?: string | readonly ModelMessage[]
  /** The agent's when absent. */
  readonly model?: string
  /** Over the agent's own. */
  readonly settings?: ModelSettings
  /** The answer is one JSON value of this shape; provider_unavailable when it is not. */
  readonly responseFormat?: z.ZodType | JsonSchema
}

export interface AskAgentOptions {
  /** For that agent and everything below it: over the metadata of this run, and over what the crew says of the agent. */
  readonly metadata?: Metadata | undefined
}

export interface StepMemory {
  /** What the agent remembers of the thread. Once a run. */
  readonly recall: () => Promise<readonly ModelMessage[]>
  /** What the next run recalls, if this one completes; the last word counts. */
  readonly remember: (messages: readonly ModelMessage[]) => void
}

/** What a step has to work with. What fails throws an AppError. */
export interface StepContext {
  readonly principal: Principal
  readonly threadId: string | undefined
  readonly runId: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Aborts when the run stops. */
  readonly signal: AbortSignal
  /** The conversation, ending with what is to be answered. */
  readonly messages: readonly ModelMessage[]
  /** The text of its newest question. */
  readonly question: string
  readonly askModel: (question: ModelQuestion) => Answer
  readonly callTool: (tool: Tool, input: unknown) => Promise<unknown>
  /** Another agent, by its key, which sees nothing but the task. */
  readonly askAgent: (agent: string, task: string, options?: AskAgentOptions) => Answer
  /** Absent outside of an agent. */
  readonly memory?: StepMemory | undefined
}
