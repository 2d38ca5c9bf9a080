import type { Principal } from '../auth/principal.ts'
import type { ErrorCode } from '../errors.ts'
import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { Message, MessageStatus } from '../threads/message.ts'
import type { Suspension } from '../runtime/suspension.ts'
import type { Thread } from '../threads/thread-store.ts'
import type { Decision, StoredSuspension } from './answer-suspension.ts'

export type RunStatus = 'queued' | 'running' | 'suspended' | 'completed' | 'stopped' | 'failed' | 'interrupted'

export interface Run {
  readonly id: string
  readonly threadId: string
  /** The assistant message this run writes. */
  readonly messageId: string
  readonly agentId: string
  readonly status: RunStatus
  /** The process that runs it, see holder.ts. */
  readonly holder: string
  readonly leaseUntil: Date
  readonly createdAt: Date
  readonly endedAt: Date | undefined
  readonly errorCode: ErrorCode | undefined
}

/** What a turn is decided on, read in the same transaction that writes the decision. */
export interface TurnView {
  readonly thread: Thread | undefined
  /** The run that is running or suspended, if any. */
  readonly activeRun: Run | undefined
  /** Newest first N messages of the head path, in ascending order, deleted ones left out, streaming ones included. */
  readonly path: readonly Message[]
  /** The message asked for by `lookup`, found by client id or row id, on the head path first; with the path to it (itself last). */
  readonly found: Message | undefined
  readonly foundPath: readonly Message[]
  /** The message of a suspended run, also where it is on another branch or deleted. */
  readonly waiting?: Message | undefined
  /** What it waits for. */
  readonly suspension?: StoredSuspension | undefined
}

export interface NewMessage {
  readonly id: string
  readonly clientId?: string | undefined
  readonly parentId: string | undefined
  readonly role: 'user' | 'assistant'
  readonly parts: readonly MessagePart[]
  readonly status: MessageStatus
  readonly model?: string | undefined
}

/** What a turn writes before its first byte. */
export interface TurnPlan<T> {
  readonly createThread?: { readonly agentId: string, readonly title?: string | undefined, readonly metadata?: Readonly<Record<string, unknown>> | undefined } | undefined
  /** Inserted in this order; the last one becomes the head. */
  readonly messages: readonly NewMessage[]
  /** A suspended message that got answers: its parts, and whether it goes on or still waits for others. */
  readonly continueMessage?: { readonly id: string, readonly parts: readonly MessagePart[], readonly status: 'streaming' | 'suspended' } | undefined
  /**
   * The suspended run that this turn ends (it was continued or superseded), with the parts its message keeps; `approvals`
   * is what becomes of those that are pending.
   */
  readonly endRun?: { readonly id: string, readonly messageId: string, readonly parts: readonly MessagePart[] | undefined, readonly status: 'completed' | 'stopped', readonly approvals?: 'superseded' | 'stopped' } | undefined
  /** Verdicts on pending approvals. One that is not pending any more undoes the turn, which is decided again. */
  readonly decisions?: readonly Decision[] | undefined
  readonly run?: { readonly id: string, readonly messageId: string, readonly agentId: string, readonly holder: string, readonly leaseUntil: Date } | undefined
  /** Handed back to the caller. */
  readonly result: T
}

export interface UsageRecord {
  readonly agentPath: string
  readonly model: string
  readonly usage: Usage
  readonly costUsd: number | undefined
  readonly estimated: boolean
}

export interface Checkpoint {
  readonly runId: string
  readonly messageId: string
  readonly parts: readonly MessagePart[]
  /** How long all runs of the message have worked on it by now. */
  readonly processingMs: number
}

export interface TurnEnd {
  readonly runId: string
  readonly messageId: string
  readonly runStatus: Exclude<RunStatus, 'queued' | 'running'>
  readonly messageStatus: MessageStatus
  readonly parts: readonly MessagePart[]
  readonly finishReason: FinishReason | undefined
  readonly usage: Usage
  readonly costUsd: number | undefined
  /** How long all runs of the message have worked on it. */
  readonly processingMs: number | undefined
  readonly errorCode?: ErrorCode | undefined
  readonly errorRef?: string | undefined
  readonly usageRecords: readonly UsageRecord[]
  /** A turn that said nothing leaves no message: its row goes and the head returns to its parent. */
  readonly discardMessage: boolean
  /** What is kept of a run that waits. */
  readonly suspension?: Suspension | undefined
}

/** The writes of runs. Every method is one transaction. */
export interface TurnStore {
  /**
   * Reads the view, lets `decide` choose (it must be pure: it may be called again after a write conflict; what it throws
   * is thrown), writes the plan, all or nothing. At most one running or suspended run per thread is a unique constraint.
   * `contextLimit` bounds the paths. A message whose id is taken in the thread: `conflict`.
   */
  begin: <T>(principal: Principal, threadId: string, options: { lookup?: string | undefined, contextLimit: number }, decide: (view: TurnView) => TurnPlan<T>) => Promise<T>
  /** Saves the parts of running messages. Rows whose run is no longer `holder`'s and running are left alone; the ids of those runs are returned. */
  checkpoint: (holder: string, checkpoints: readonly Checkpoint[]) => Promise<readonly string[]>
  /** Ends or suspends a run. False, and nothing written, when the run is no longer the holder's (its thread was deleted, or it was recovered by another). */
  finish: (holder: string, end: TurnEnd) => Promise<boolean>
  /** A title made by us: kept only while the thread has none. */
  suggestTitle: (principal: Principal, threadId: string, title: string) => Promise<boolean>
  /** A run of the principal, by id. */
  run: (principal: Principal, runId: string) => Promise<Run | undefined>
  activeRun: (principal: Principal, threadId: string) => Promise<Run | undefined>
  renewLeases: (holder: string, leaseUntil: Date) => Promise<void>
  /** Runs in state running, of whatever owner and process: what recovery looks through. */
  runningRuns: () => Promise<readonly (Run & { readonly principal: Principal })[]>
  /** One message of a run with its parts, for recovery. */
  messageOfRun: (runId: string) => Promise<Message | undefined>
  /** Ends a run whose holder is dead; conditional on the holder and lease seen. */
  interrupt: (run: Run, end: { parts: readonly MessagePart[], errorRef: string }) => Promise<boolean>
}
