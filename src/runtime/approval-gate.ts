import { randomUUID } from 'node:crypto'
import type { ToolContext } from '../tools/tool.ts'
import type { CheckedCall } from './checked-call.ts'
import type { Frame } from './frame.ts'
import type { Verdict } from './suspension.ts'

export type GateResult =
  | { readonly kind: 'open' }
  | { readonly kind: 'decided', readonly verdict: Verdict }
  /** A person has to decide. */
  | { readonly kind: 'ask', readonly approvalId: string }

/**
 * Whether a call may run by itself. A predicate that throws means that it may not. The run's own policy, where there is
 * one, decides at every depth in place of a person; one that throws denies.
 */
export async function passGate (call: CheckedCall & { ok: true }, frame: Frame): Promise<GateResult> {
  if (!await isGated(call, frame)) return { kind: 'open' }
  const verdict = await policyVerdict(call, frame)
  if (verdict === undefined) return { kind: 'ask', approvalId: randomUUID() }
  return verdict.approved ? { kind: 'open' } : { kind: 'decided', verdict }
}

async function isGated ({ offered: { tool }, input, callId }: CheckedCall & { ok: true }, frame: Frame): Promise<boolean> {
  const { needsApproval } = tool
  if (typeof needsApproval !== 'function') return needsApproval
  try {
    return await needsApproval(input as never, contextOf(frame, callId)) // checked against the tool's own schema
  } catch (error) {
    frame.run.deps.log.warn({ err: error, tool: tool.name, callId }, 'a tool could not say whether it needs approval, so it does')
    return true
  }
}

async function policyVerdict ({ toolName, input, callId }: CheckedCall & { ok: true }, frame: Frame): Promise<Verdict | undefined> {
  const { root, deps } = frame.run
  if (root.approveToolCall === undefined) return undefined
  try {
    const decided = await root.approveToolCall({ callId, toolName, input }, contextOf(frame, callId))
    return typeof decided === 'boolean' ? { approved: decided } : decided
  } catch (error) {
    deps.log.error({ err: error, tool: toolName, callId }, 'the approval policy failed, so the call is denied')
    return { approved: false, reason: 'The approval policy failed.' }
  }
}

function contextOf ({ path, metadata, run: { principal, threadId, runId } }: Frame, callId: string): Omit<ToolContext, 'signal' | 'report'> {
  return { principal, threadId, runId, metadata, callId, agentPath: path }
}
