import type { Agent } from '../agents/agent.ts'
import { extended, type Metadata } from '../agents/metadata.ts'
import type { AgentPath } from '../events/run-event.ts'
import type { AttachedFile } from '../messages/attachment.ts'
import { splitAtQuestion } from '../memories/replayable.ts'
import type { ModelMessage } from '../models/model.ts'
import { createLedger } from './ledger.ts'
import { createMemberSlots, noSlots, type MemberSlot, type MemberSlots } from './member-slots.ts'
import { callIdsOf, createRunState, createSharedState, type RunState } from './run-state.ts'
import type { RunDeps, RunInput } from './run-input.ts'
import { callIdsIn, type FrameCheckpoint } from './suspension.ts'

/** What holds for a whole run, whichever of its agents is at work. */
export interface RunScope extends Pick<RunInput, 'runId' | 'threadId' | 'principal' | 'suspendsFor'> {
  /** The agent that was asked: its limits of depth and members are the run's. */
  readonly root: Agent
  readonly deps: RunDeps
  readonly slots: MemberSlots
  /** Whether somebody may follow what it shows, while it runs or later. */
  readonly isStreamed: boolean
  /** The turn's attachments, for members whose coordinator shares them. */
  readonly attachments: NonNullable<RunInput['attachments']>
}

/** One agent at work in a run: the root, or a member on an errand. */
export interface Frame extends Pick<RunInput, 'agent' | 'history' | 'mode' | 'useTools' | 'memory'> {
  /** Of the root only: what its caller asks for beside its own. */
  readonly asked: Pick<RunInput, 'response' | 'callerInstructions' | 'settings' | 'suggests'>
  /** The chain of delegations that leads to this agent; empty for the root. */
  readonly path: AgentPath
  readonly state: RunState
  readonly run: RunScope
  /** Of thread and request, and with what the crews that lead here say of their members. */
  readonly metadata: Metadata
  /** The files that it sees: of the whole conversation, or what a member's coordinator shares of the turn. */
  readonly files: readonly AttachedFile[]
  /** The member's place among those that may work at a time; the root needs none. */
  readonly slot: MemberSlot | undefined
}

export function rootFrame (input: RunInput, deps: RunDeps): Frame {
  const { agent, history, mode, useTools, memory, metadata, resume, files = [] } = input
  const { runId, threadId, principal, suspendsFor, attachments = [] } = input
  const callIds = [...callIdsOf(history), ...resume === undefined ? [] : callIdsIn(resume.checkpoint.root), ...callIdsOf(resume?.checkpoint.root.recalled ?? [])]
  const shared = createSharedState({ callIds })
  const ledger = createLedger(agent.budget, resume?.checkpoint)
  const asksOthers = agent.crew.length > 0 || agent.pipeline !== undefined
  const slots = !asksOthers ? noSlots : createMemberSlots({ concurrency: agent.memberConcurrency, total: agent.maxMemberCalls, begun: resume?.checkpoint.memberCalls })
  return {
    agent, history, mode, useTools, memory, metadata, files,
    asked: input,
    path: [],
    state: restored(createRunState(history, { shared, ledger }), resume?.checkpoint.root),
    run: { runId, threadId, principal, suspendsFor, attachments, isStreamed: mode === 'chat', root: agent, deps, slots },
    slot: undefined
  }
}

export interface MemberFrameOptions {
  readonly agent: Agent
  readonly path: AgentPath
  /** Over what it inherits. */
  readonly metadata: Metadata | undefined
  readonly history: readonly ModelMessage[]
  readonly slot: MemberSlot
  readonly checkpoint: FrameCheckpoint | undefined
}

/** A member sees its own instructions and its task, never the conversation. */
export function memberFrame ({ agent: coordinator, metadata: inherited, run, state }: Frame, { agent, path, metadata, history, slot, checkpoint }: MemberFrameOptions): Frame {
  return {
    agent, path, history, run, slot,
    mode: 'headless',
    memory: undefined,
    useTools: true,
    asked: {},
    metadata: extended(inherited, metadata),
    files: coordinator.shareAttachments ? run.attachments.map(({ file }) => file) : [],
    state: restored(createRunState(history, { shared: state, ledger: state.ledger.below(agent.budget, checkpoint?.spent) }), checkpoint)
  }
}

function restored (state: RunState, checkpoint: FrameCheckpoint | undefined): RunState {
  if (checkpoint === undefined) return state
  const { messages, recalled, step, toolCalls, reminders, calledTools, workedMs = 0 } = checkpoint
  if (recalled !== undefined) state.messages.splice(0, Infinity, ...recalled, ...splitAtQuestion(state.messages).turn)
  state.messages.push(...messages)
  for (const name of calledTools) state.calledTools.add(name)
  return Object.assign(state, { recalled, step, toolCalls, reminders, startedAt: state.startedAt - workedMs })
}
