import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { AgentPath } from '../events/run-event.ts'
import type { JsonSchema } from '../models/model.ts'

export interface ToolContext {
  readonly principal: Principal
  readonly threadId: string | undefined
  readonly runId: string
  readonly callId: string
  readonly agentPath: AgentPath
  /** The thread's metadata with the request's over it, and what crews say of their members; never shown to the model. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Aborts when the run stops or the call's time is up. */
  readonly signal: AbortSignal
  /** Shows progress to the user while the tool works; `fraction` is 0 to 1. */
  readonly report: (message: string, fraction?: number) => void
}

export interface Tool {
  readonly kind: 'tool'
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly input: z.ZodType | JsonSchema
  /** Absent for client tools: the run suspends and the client posts the result back. */
  readonly execute: ((input: never, context: ToolContext) => unknown) | undefined
  /** Milliseconds one call may take; the agent's `toolTimeoutMs` when absent. */
  readonly timeoutMs: number | undefined
  /** Whether somebody has to allow a call before it runs. */
  readonly needsApproval: boolean | ((input: never, context: Omit<ToolContext, 'signal' | 'report'>) => boolean | Promise<boolean>)
  /** `output`: what it returns is the answer to the user, and the model is not asked again. */
  readonly handling: 'response' | 'output'
}

export function isTool (value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && (value as Partial<Tool>).kind === 'tool'
}

type InputOf<I extends z.ZodType | JsonSchema> = I extends z.ZodType ? z.output<I> : Record<string, unknown>

export interface ToolDefinition<I extends z.ZodType | JsonSchema> {
  name: string
  title?: string
  description?: string
  input?: I
  /** With `handling: 'output'` it may return an async iterable of text, which is shown as it comes. */
  execute?: (input: InputOf<I>, context: ToolContext) => unknown
  timeoutMs?: number
  /** A function is asked for each call; one that throws means that approval is needed. */
  needsApproval?: boolean | ((input: InputOf<I>, context: Omit<ToolContext, 'signal' | 'report'>) => boolean | Promise<boolean>)
  handling?: Tool['handling']
}

const emptyInput = z.object({})

/** A tool an agent may call. Without `execute` it is a client tool. Throws when the name or schema is unusable. */
export function defineTool<I extends z.ZodType | JsonSchema = typeof emptyInput> (definition: ToolDefinition<I>): Tool {
  const { name, description = '', input = emptyInput, title, execute, timeoutMs, needsApproval = false, handling = 'response' } = definition
  if (typeof name !== 'string' || name.trim() === '') throw new TypeError('A tool needs a name')
  if (timeoutMs !== undefined && !(timeoutMs > 0)) throw new TypeError(`Tool "${name}": timeoutMs must be greater than 0`)
  if (handling !== 'response' && execute === undefined) throw new TypeError(`Tool "${name}": a client tool cannot have handling "${handling}"`)
  // An input of the tool's own type is what its functions are given.
  return Object.freeze({ kind: 'tool', name, title, description, input, execute: execute as Tool['execute'], timeoutMs, needsApproval: needsApproval as Tool['needsApproval'], handling })
}
