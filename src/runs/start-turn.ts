import type { Agent } from '../agents/agent.ts'
import { askingFor, asOwner, ownerOf, type Principal } from '../auth/principal.ts'
import { RunStopped } from '../errors.ts'
import type { Attachments } from '../files/attachments.ts'
import { attachedId, type AttachedFile, type Attachment } from '../messages/attachment.ts'
import { limitHistory, toModelMessages } from '../messages/history.ts'
import type { Memories } from '../memories/memories.ts'
import { splitAtQuestion } from '../memories/replayable.ts'
import type { ModelMessage } from '../models/model.ts'
import { runAgent } from '../runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../runtime/run-input.ts'
import type { RunCheckpoint, Suspension } from '../runtime/suspension.ts'
import type { Thread } from '../threads/thread-store.ts'
import { reportingDropped } from './attached-files.ts'
import type { Checkpointer } from './checkpointer.ts'
import type { TurnDecision } from './decide-turn.ts'
import type { Reservation } from './run-registry.ts'
import { questionOf, titled } from './titled.ts'
import { createTurnRecorder } from './turn-recorder.ts'
import type { TurnStore } from './turn-store.ts'

export interface StartTurnOptions {
  readonly turns: TurnStore
  readonly checkpointer: Checkpointer
  readonly holder: string
  readonly deps: RunDeps
  readonly attachments: Attachments
  readonly memories: Memories
  readonly historyToolOutputLimit: number
}

/** A turn that came to a run. */
export interface StartedTurn {
  readonly principal: Principal
  readonly threadId: string
  /** As it was before the turn; undefined when the turn made it. */
  readonly thread: Thread | undefined
  readonly agent: Agent
  readonly decision: TurnDecision & { kind: 'run' }
  /** Files it was asked with that are not the thread's. */
  readonly dropped: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** Nobody let it go on: what it waited for has expired. */
  readonly byItself?: boolean
  /** How the run is made, where that is not a chat's way. */
  readonly run?: Pick<RunInput, 'mode' | 'useTools' | 'suspendsFor' | 'response'> | undefined
}

export const chatRun = { mode: 'chat', useTools: true, suspendsFor: 'everything' } as const

/** Begins the run of a turn and keeps what it says. Resolves when its first event is in the log. */
export type StartTurn = (turn: StartedTurn, reservation: Reservation) => Promise<void>

export function createStartTurn (options: StartTurnOptions): StartTurn {
  const { turns, holder, deps, attachments, memories, checkpointer } = options

  return async (turn, reservation) => {
    const { threadId, thread, agent, dropped, decision } = turn
    const { runId, messageId, continues } = decision
    const principal = runnerOf(turn, continues?.resume.checkpoint)
    const log = deps.log.child({ runId, threadId })
    let suspension: Suspension | undefined
    const context = await contextOf(turn)
    const { mode, useTools, suspendsFor, response }: NonNullable<StartedTurn['run']> = turn.run ?? chatRun
    // Field by field: of an object that is put together from others, V8 makes a shape for each, larger than itself.
    const input: RunInput = {
      mode, useTools, suspendsFor, response, runId, messageId, agent, principal, threadId,
      metadata: { ...thread?.metadata, ...continues?.resume.checkpoint.metadata, ...turn.metadata },
      history: context.history,
      attachments: context.attachments,
      files: context.files,
      memory: memories.ofTurn(agent, {
        thread: { principal: asOwner(principal), agentId: agent.id, threadId }, answerId: messageId,
        path: decision.context.map(({ id }) => id), stored: splitAtQuestion(context.history).earlier
      }),
      resume: continues?.resume,
      onSuspend: (kept) => { suspension = kept }
    }
    const initialParts = continues?.parts ?? []
    const recorder = createTurnRecorder({
      turns, holder, runId, messageId, initialParts, checkpointer, log,
      initialSpent: continues?.resume.checkpoint,
      initialMs: continues?.resume.checkpoint.root.workedMs,
      suspension: () => suspension,
      abort: reservation.abort,
      lost: () => new RunStopped('the thread is gone')
    })
    const wantsTitle = agent.titleGeneration && (thread === undefined || thread.title === undefined)
    // The turn itself is in none of these functions: its messages would be held as long as the answer takes.
    const question = wantsTitle ? questionOf(decision.context) : ''
    await reservation.start({
      principal, messageId, initialParts, threadId, onDisconnect: agent.onDisconnect,
      record: recorder.record,
      events: (signal, abort) => {
        const events = reportingDropped(runAgent(input, { ...deps, log }, signal, abort), dropped)
        return question === '' ? events : titled(events, { deps: { ...deps, log }, turns, agent, principal, threadId, question, signal })
      }
    })
  }

  async function contextOf ({ principal, threadId, agent, decision: { context } }: StartedTurn): Promise<{ history: ModelMessage[], attachments: readonly Attachment[], files: readonly AttachedFile[] }> {
    const kept = agent.maxHistory === undefined ? context : limitHistory(context, agent.maxHistory)
    const files = await attachments.contextFor({ principal, threadId, agent, messages: kept })
    const newest = kept.findLast((message) => message.role === 'user')?.parts ?? []
    return {
      history: toModelMessages(kept, { toolOutputLimit: options.historyToolOutputLimit, attachments: files }),
      files: Array.from(files.values(), ({ file }) => file),
      attachments: newest.flatMap((part) => part.type === 'file' ? files.get(attachedId(part) ?? '') ?? [] : [])
    }
  }
}

/** A run goes on for whom it was begun, whoever let it; with their roles of now where they did so themselves. */
function runnerOf ({ principal, byItself = false }: StartedTurn, checkpoint: RunCheckpoint | undefined): Principal {
  const begun = checkpoint?.principal
  if (begun === undefined || (begun.userId === principal.userId && !byItself)) return principal
  return askingFor(ownerOf(principal), { tenantId: principal.tenantId, ...begun })
}
