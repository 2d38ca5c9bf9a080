import { createHash } from 'node:crypto'
import type { AgentPath } from '../events/run-event.ts'

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'superseded' | 'stopped'

/** A call that waits, or waited, for somebody to allow it. Decided once. */
export interface Approval {
  readonly id: string
  readonly threadId: string
  /** The run that stopped to ask. */
  readonly runId: string
  readonly messageId: string
  readonly callId: string
  readonly agentPath: AgentPath
  readonly toolName: string
  /** Exactly what will be run. */
  readonly input: unknown
  readonly inputHash: string
  readonly status: ApprovalStatus
  readonly reason: string | undefined
  readonly expiresAt: Date
  readonly decidedAt: Date | undefined
  readonly createdAt: Date
}

/** The same for inputs that are the same value, whatever the order of their keys. */
export function inputHash (input: unknown): string {
  return createHash('sha256').update(JSON.stringify(input, sorted) ?? 'undefined').digest('hex')
}

function sorted (_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
