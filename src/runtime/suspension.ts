import type { Agent } from '../agents/agent.ts'
import type { AgentPath, RunEventBody } from '../events/run-event.ts'
import type { ToolOutput } from '../messages/turn-request.ts'
import type { KeptReasoning, ModelMessage } from '../models/model.ts'
import type { Spent } from './ledger.ts'
import type { SettledCall } from './runaway.ts'

/** One call that holds up its agent's batch. */
export type WaitingCall =
  /** A client tool's: answered by the client. */
  | { readonly kind: 'client', readonly callId: string }
  /** Gated: run or denied as somebody decides. */
  | { readonly kind: 'approval', readonly callId: string, readonly approvalId: string }
  /** A delegation whose member waits itself. */
  | { readonly kind: 'member', readonly callId: string, readonly member: FrameCheckpoint }

/** Where one agent stopped, in the middle of a batch of calls. JSON, so that it outlives the process. */
export interface FrameCheckpoint {
  readonly agentId: string
  readonly path: AgentPath
  /** What came after the messages it began with, without the step that waits. */
  readonly messages: readonly ModelMessage[]
  /** What its memory gave before the question, which is not recalled again. */
  readonly recalled?: readonly ModelMessage[]
  readonly step: number
  readonly toolCalls: number
  readonly reminders: number
  readonly calledTools: readonly string[]
  /** The step that waits: what its model said, its calls in order, and the results there are. */
  readonly text: string
  readonly reasoning: readonly KeptReasoning[]
  /** `arguments` are the model's own words; `input` is what was made of them, and what people see. */
  readonly calls: ReadonlyArray<{ readonly callId: string, readonly modelName: string, readonly toolName: string, readonly arguments: string, readonly input: unknown }>
  readonly results: ReadonlyArray<{ readonly callId: string, readonly content: string, readonly ran: boolean, readonly outcome?: SettledCall['outcome'] }>
  readonly waiting: readonly WaitingCall[]
  /** With everything below it. */
  readonly spent?: Spent
  /** Milliseconds it had worked by then. */
  readonly workedMs?: number
}

/** Where a whole run stopped, and what all its model calls have taken so far. */
export interface RunCheckpoint extends Spent {
  readonly root: FrameCheckpoint
  readonly memberCalls: number
  /** For whom it was begun, in the tenant of its thread. */
  readonly principal?: { readonly userId: string, readonly roles: readonly string[] }
  /** What its tools were told of thread and request. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A gated call as the person who decides sees it. */
export interface ApprovalRequest {
  readonly id: string
  readonly callId: string
  readonly agentPath: AgentPath
  readonly toolName: string
  readonly input: unknown
  readonly expiresAt: Date
}

/** What is kept of a run that waits. */
export interface Suspension {
  readonly checkpoint: RunCheckpoint
  /** Those asked for just now; earlier ones are decided. */
  readonly approvals: readonly ApprovalRequest[]
}

export interface Verdict { readonly approved: boolean, readonly reason?: string | undefined }

/** What a suspended run goes on with: an answer for every call that waited. */
export interface Resume {
  readonly checkpoint: RunCheckpoint
  /** By approval id. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** By call id. */
  readonly outputs: ReadonlyMap<string, ToolOutput>
}

/** The calls that wait for somebody outside, at every depth. */
export function waitingCalls ({ waiting }: FrameCheckpoint): ReadonlyArray<Exclude<WaitingCall, { kind: 'member' }>> {
  return waiting.flatMap((call) => call.kind === 'member' ? waitingCalls(call.member) : [call])
}

/** The ids of all calls at every depth. */
export function callIdsIn ({ messages, calls, waiting }: FrameCheckpoint): string[] {
  const told = messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map(({ callId }) => callId) : [])
  return [...told, ...calls.map(({ callId }) => callId), ...waiting.flatMap((call) => call.kind === 'member' ? callIdsIn(call.member) : [])]
}

/**
 * The calls that wait, delegations too, as the events that announced them: what is open when their run goes on. Where
 * members are hidden, so are the delegations among them; what somebody outside has to see is shown all the same.
 */
export function waitingInputs ({ path, calls, waiting }: FrameCheckpoint, show: Agent['subagentStream']): RunEventBody[] {
  const by = path.length === 0 ? {} : { agentPath: path }
  return waiting.flatMap((wait) => {
    const call = calls.find(({ callId }) => callId === wait.callId)
    const own: RunEventBody[] = call === undefined ? [] : [{ type: 'tool-input-complete', callId: call.callId, toolName: call.toolName, input: undefined, ...by }]
    if (wait.kind !== 'member') return own
    const hidden = show === 'none' && path.length > 0
    return [...hidden ? [] : own, ...waitingInputs(wait.member, show)]
  })
}
