import { inputHash, type Approval } from '../approvals/approval.ts'
import { isToolPart, type MessagePart, type ToolPart } from '../messages/parts.ts'
import type { ClientVerdict, ToolOutput } from '../messages/turn-request.ts'
import { waitingCalls, type Resume, type RunCheckpoint, type Verdict } from '../runtime/suspension.ts'

/** What a suspended run waits for, as it is stored. */
export interface StoredSuspension {
  readonly checkpoint: RunCheckpoint
  /** All that were asked in this suspension, decided ones too. */
  readonly approvals: readonly Approval[]
}

export interface Answers {
  readonly outputs: readonly ToolOutput[]
  readonly verdicts: readonly ClientVerdict[]
}

/** A verdict as it is to be written; the approval is pending. */
export interface Decision { readonly approvalId: string, readonly status: 'approved' | 'denied' | 'expired', readonly reason: string | undefined }

/** Why a verdict changes nothing. */
export type VerdictFault = 'unknown' | 'decided' | 'expired' | 'superseded' | 'altered'

export interface Answered {
  /** The message's parts with the answers in them. */
  readonly parts: readonly MessagePart[]
  readonly decisions: readonly Decision[]
  /** How many results of client tools were taken. */
  readonly outputs: number
  /** What the run goes on with, once nothing is waited for any more. */
  readonly resume: Resume | undefined
  /** Of the verdicts that say something else than what holds. */
  readonly faults: ReadonlyArray<{ readonly approvalId: string, readonly fault: VerdictFault }>
}

/** Fills in answers. Only what is waited for takes one: everything else a client says of a call is ignored. */
export function answerSuspension (parts: readonly MessagePart[], { checkpoint, approvals }: StoredSuspension, answers: Answers, now: Date): Answered {
  const waiting = waitingCalls(checkpoint.root)
  const clientCalls = new Set(waiting.flatMap((call) => call.kind === 'client' ? [call.callId] : []))
  const { decisions, faults } = judge(approvals, answers.verdicts, now)
  const taken = answers.outputs.filter(({ callId }) => clientCalls.has(callId) && parts.some((part) => isToolPart(part) && part.toolCallId === callId && part.state === 'input-available'))
  const answered = parts.map((part) => isToolPart(part) ? withAnswer(part, taken, decisions) : part)
  const verdicts = verdictsOf(approvals, decisions)
  const outputs = outputsOf(answered, clientCalls)
  const complete = waiting.every((call) => call.kind === 'client' ? outputs.has(call.callId) : verdicts.has(call.approvalId))
  return { parts: answered, decisions, faults, outputs: taken.length, resume: complete ? { checkpoint, verdicts, outputs } : undefined }
}

/** What a verdict comes to: a decision, nothing because it holds already, or a fault. */
export function judgeVerdict (approval: Approval | undefined, verdict: ClientVerdict, now: Date): Decision | VerdictFault | undefined {
  if (approval === undefined) return 'unknown'
  const { status, expiresAt } = approval
  const asked = verdict.approved ? 'approved' : 'denied'
  if (verdict.input !== undefined && inputHash(verdict.input) !== approval.inputHash) return 'altered'
  if (status === asked) return undefined
  if (status === 'pending') return expiresAt <= now ? 'expired' : { approvalId: approval.id, status: asked, reason: verdict.reason }
  if (status === 'expired') return 'expired'
  return status === 'superseded' || status === 'stopped' ? 'superseded' : 'decided'
}

function judge (approvals: readonly Approval[], verdicts: readonly ClientVerdict[], now: Date): Pick<Answered, 'decisions' | 'faults'> {
  const decisions = new Map<string, Decision>()
  const faults: Answered['faults'][number][] = []
  for (const verdict of verdicts) {
    const { approvalId } = verdict
    const result = judgeVerdict(approvals.find(({ id }) => id === approvalId), verdict, now)
    if (typeof result === 'string') faults.push({ approvalId, fault: result })
    else if (result !== undefined && !decisions.has(approvalId)) decisions.set(approvalId, result)
  }
  return { decisions: [...decisions.values()], faults }
}

function withAnswer (part: ToolPart, outputs: readonly ToolOutput[], decisions: readonly Decision[]): ToolPart {
  const decision = part.approval === undefined ? undefined : decisions.find(({ approvalId }) => approvalId === part.approval?.id)
  if (decision !== undefined) {
    const { approvalId: id, status, reason } = decision
    return { ...part, state: 'approval-responded', approval: { id, approved: status === 'approved', ...(reason === undefined ? {} : { reason }) } }
  }
  const given = part.state === 'input-available' ? outputs.find(({ callId }) => callId === part.toolCallId) : undefined
  if (given === undefined) return part
  return 'output' in given ? { ...part, state: 'output-available', output: given.output } : { ...part, state: 'output-error', errorText: given.errorText }
}

function verdictsOf (approvals: readonly Approval[], decisions: readonly Decision[]): ReadonlyMap<string, Verdict> {
  const stored = approvals.flatMap(({ id, status, reason }) => status === 'pending' ? [] : [[id, { approved: status === 'approved', reason }] as const])
  const now = decisions.map(({ approvalId, status, reason }) => [approvalId, { approved: status === 'approved', reason }] as const)
  return new Map([...stored, ...now])
}

function outputsOf (parts: readonly MessagePart[], clientCalls: ReadonlySet<string>): ReadonlyMap<string, ToolOutput> {
  return new Map(parts.flatMap((part): Array<readonly [string, ToolOutput]> => {
    if (!isToolPart(part) || !clientCalls.has(part.toolCallId)) return []
    const { toolCallId: callId, state, output, errorText = '' } = part
    if (state === 'output-available') return [[callId, { callId, output }]]
    return state === 'output-error' ? [[callId, { callId, errorText }]] : []
  }))
}
