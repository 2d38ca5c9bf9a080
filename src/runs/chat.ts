import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Approval } from '../approvals/approval.ts'
import type { Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { invalidRequest, isAppError, permissionDenied, RunStopped } from '../errors.ts'
import type { Attachments } from '../files/attachments.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { TurnRequest } from '../messages/turn-request.ts'
import type { ToldConversation } from '../messages/told-conversation.ts'
import type { ModelMessage } from '../models/model.ts'
import type { RunDeps, RunInput } from '../runtime/run-input.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { Thread } from '../threads/thread-store.ts'
import { withOwnFiles } from './attached-files.ts'
import { createAgentChooser } from './choose-agent.ts'
import { decideLetGo, decideTurn, decideVerdict, lookupOf, type TurnDecision, type TurnIds, type TurnSettings } from './decide-turn.ts'
import { leaseUntil } from './lease-keeper.ts'
import type { Recovery } from './recovery.ts'
import { replayMessage } from './replay-message.ts'
import type { RunRegistry } from './run-registry.ts'
import type { StartTurn } from './start-turn.ts'
import type { TurnPlan, TurnStore, TurnView } from './turn-store.ts'
import { createStartUnstoredTurn, type UnstoredTurn } from './unstored-turn.ts'

// Newest messages a turn reads; compaction to the model's window comes on top of this.
const contextLimit = 1_000

export interface ChatOptions {
  readonly agents: AgentRegistry
  readonly permissions: Permissions
  readonly access: ThreadAccess
  readonly turns: TurnStore
  readonly runs: RunRegistry
  readonly recovery: Recovery
  readonly holder: string
  readonly deps: RunDeps
  readonly attachments: Attachments
  readonly startTurn: StartTurn
  /** Ids of rows made here: unique and sortable by time. */
  readonly newId: () => string
}

export interface TurnInput {
  readonly threadId: string
  /** Of a thread that does not exist yet; must be the thread's own otherwise. */
  readonly agentId: string | undefined
  readonly request: TurnRequest
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** Under which the client reaches the service: uploads may be referred to by it. */
  readonly baseUrl?: string | undefined
  /** What the caller must be allowed, where that is not to chat. */
  readonly operation?: 'chat' | 'run'
  /** How the run is made, where that is not a chat's way. */
  readonly run?: Pick<RunInput, 'mode' | 'useTools' | 'suspendsFor' | 'response'>
  /** The whole conversation, read only for an agent that keeps no threads; absent where such an agent cannot be asked. */
  readonly told?: () => ToldConversation
}

export interface StatelessInput extends Pick<UnstoredTurn, 'metadata' | 'run' | 'response'> {
  readonly agentId: string | undefined
  /** The whole conversation, as the client tells it. */
  readonly messages: readonly ModelMessage[]
}

/** A reply to be read: nothing is lost when nobody does. */
export interface Reply {
  readonly runId: string | undefined
  readonly threadId: string | undefined
  /** Whose reply it is; undefined where that agent is not configured any more. */
  readonly agent: Agent | undefined
  /** What the message said before the run being read. */
  readonly initialParts: readonly MessagePart[]
  readonly events: (signal: AbortSignal) => BatchStream<RunEvent>
}

export interface ChatService {
  /**
   * Takes one turn: stores the question and begins its answer, or finds the one there is. Resolves when the reply can be
   * read. Throws not_found, permission_denied, invalid_request, conflict, thread_busy, configuration_error, storage_unavailable or
   * shutting_down, and nothing is stored then. An agent that keeps no threads answers what the client tells, and nothing is
   * stored of it either, unless the thread is there already.
   */
  takeTurn: (principal: Principal, input: TurnInput) => Promise<Reply>
  /** One turn of a conversation that only the client keeps: nothing is stored. */
  takeStatelessTurn: (principal: Principal, input: StatelessInput) => Promise<Reply>
  /** The thread's running answer from its very first event; undefined when nothing runs here. */
  resume: (principal: Principal, threadId: string) => Promise<Reply | undefined>
  /**
   * Takes a verdict on an approval, and goes on with its message once that waits for nothing any more; the id of the run
   * that does. Throws conflict, whose `details.reason` says why the verdict changes nothing.
   */
  decide: (principal: Principal, approval: Approval, verdict: Parameters<typeof decideVerdict>[1]) => Promise<string | undefined>
  /** Stops what runs in the thread, or lets go of what it waits for; the id of that run. Idempotent. */
  stop: (principal: Principal, threadId: string) => Promise<string | undefined>
}

export function createChat (options: ChatOptions): ChatService {
  const { agents, permissions, access, turns, runs, recovery, holder, deps, attachments, startTurn } = options
  const choose = createAgentChooser({ agents, permissions, models: deps.models })
  const startUnstored = createStartUnstoredTurn({ runs, deps, newId: options.newId })

  return {
    async takeTurn (caller, asked) {
      const principal = await enter(caller, asked)
      const { input, dropped } = await withOwnFiles(attachments, principal, asked)
      const ids = newIds()
      const reservation = runs.reserve(ids.runId)
      try {
        const turn = await freeingThread(() => beginWithFallback(principal, input, ids))
        const { decision } = turn
        if (decision.kind === 'unstored') return await startUnstored(principal, { agent: turn.agent, told: toldTo(turn.agent, input), metadata: input.metadata, run: { suspendsFor: 'client-tools' } })
        if (decision.kind === 'run') await startTurn({ ...turn, principal, threadId: input.threadId, decision, dropped, metadata: input.metadata, run: input.run }, reservation)
        return replyTo(principal, input.threadId, { ...turn, decision })
      } finally {
        reservation.release()
      }
    },
    takeStatelessTurn: async (principal, { agentId, messages, ...turn }) =>
      await startUnstored(principal, { ...turn, agent: choose.forNewThread(agentId, { principal, operation: 'chat' }), told: { messages } }),
    async resume (caller, threadId) {
      const principal = await access.look(caller, { threadId })
      if (principal === undefined) return undefined
      const run = await turns.activeRun(principal, threadId)
      if (run?.status !== 'running') return undefined
      const known = runs.known(principal, run.id)
      return known === undefined ? undefined : { runId: run.id, threadId, agent: agents.find(run.agentId), initialParts: [], events: (signal) => fromTheStart(run.id, known.initialParts, signal) }
    },
    async decide (principal, { threadId, messageId }, verdict) {
      const ids = newIds()
      const reservation = runs.reserve(ids.runId)
      try {
        const { decision, ...turn } = await turns.begin(principal, threadId, { lookup: messageId, contextLimit }, (view) => {
          const agent = choose.goingOn(waitingThread(view))
          const plan = decideVerdict(view, verdict, ids, settingsFor(agent))
          return { ...plan, result: { decision: plan.result, agent, thread: view.thread } }
        })
        if (decision?.kind !== 'run') return undefined
        await startTurn({ ...turn, principal, threadId, decision, dropped: [], metadata: undefined, byItself: verdict.expire === true }, reservation)
        return ids.runId
      } finally {
        reservation.release()
      }
    },
    async stop (principal, threadId) {
      const run = await turns.activeRun(principal, threadId)
      if (run === undefined) return undefined
      if (run.status === 'suspended') await turns.begin(principal, threadId, { contextLimit }, decideLetGo)
      else if (!await runs.stop(run.id, new RunStopped('stopped by the user'))) await recovery.recover(run.id)
      return run.id
    }
  }

  /** Files are read out to the model, so that whoever sends one must be allowed to see it. */
  async function enter (caller: Principal, { threadId, agentId, request, operation = 'chat' }: TurnInput): Promise<Principal> {
    const place = { threadId, agentId: agentId === undefined ? undefined : agents.find(agentId)?.id }
    if (request.kind === 'message' && request.parts.some(({ type }) => type === 'file')) await access.enterOrMake(caller, 'view_file', place)
    return await access.enterOrMake(caller, operation, place)
  }

  function newIds (): TurnIds {
    return { runId: options.newId(), userMessageId: options.newId(), answerId: options.newId() }
  }

  function settingsFor (agent: Agent, metadata?: TurnInput['metadata']): TurnSettings {
    return { agentId: agent.id, model: agent.model, holder, leaseUntil: leaseUntil(), metadata }
  }

  async function begin (principal: Principal, input: TurnInput, ids: TurnIds): Promise<Begun> {
    const { threadId, request, operation = 'chat' } = input
    return await turns.begin<Begun>(principal, threadId, { lookup: lookupOf(request), contextLimit }, (view) => {
      const agent = choose.forThread(request.kind === 'answers' ? waitingThread(view) : view.thread, input.agentId, { principal, operation })
      if (view.thread === undefined && agent.storage === 'none') return { messages: [], result: { decision: { kind: 'unstored' }, agent, thread: undefined } }
      const plan = decideTurn(view, request, ids, settingsFor(agent, input.metadata))
      assertMayDecide(principal, view, plan)
      return { ...plan, result: { decision: plan.result, agent, thread: view.thread } } satisfies TurnPlan<Begun>
    })
  }

  /** Verdicts may come with a message. Those that are told again decide nothing and are nobody's business. */
  function assertMayDecide (principal: Principal, { thread }: TurnView, { decisions = [] }: TurnPlan<unknown>): void {
    if (thread !== undefined && decisions.length > 0 && !access.may(principal, 'decide_approval', thread)) throw permissionDenied('decide_approval')
  }

  /** An answer to replace that the store does not know by the client's id is found by what the client kept before it. */
  async function beginWithFallback (principal: Principal, input: TurnInput, ids: TurnIds): Promise<Begun> {
    try {
      return await begin(principal, input, ids)
    } catch (error) {
      const { request } = input
      if (request.kind !== 'regenerate' || request.messageId === undefined || request.fallbackId === undefined || !isAppError(error) || error.code !== 'not_found') throw error
      return await begin(principal, { ...input, request: { kind: 'regenerate', messageId: request.fallbackId } }, ids)
    }
  }

  /** A thread held by a run whose process is gone is freed, and the work done again. */
  async function freeingThread<T> (work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const runId = isAppError(error) && error.code === 'thread_busy' ? error.details?.runId : undefined
      if (runId === undefined || runs.isRunning(runId) || !await recovery.recover(runId)) throw error
      return await work()
    }
  }

  function replyTo (principal: Principal, threadId: string, { decision, agent }: Turn): Reply {
    switch (decision.kind) {
      case 'replay':
        return { runId: decision.message.runId, threadId, agent, initialParts: decision.message.parts.slice(0, decision.heldParts), events: () => replayMessage(decision.message, threadId, decision.heldParts) }
      case 'attach': {
        const { run: { id: runId }, from } = decision
        const initialParts = runs.known(principal, runId)?.initialParts ?? []
        if (from === 'continuation') return { runId, threadId, agent, initialParts, events: (signal) => runs.follow(runId, { after: -1, signal }) }
        return { runId, threadId, agent, initialParts: [], events: (signal) => fromTheStart(runId, initialParts, signal) }
      }
      case 'run':
        return { runId: decision.runId, threadId, agent, initialParts: decision.continues?.parts ?? [], events: (signal) => runs.follow(decision.runId, { after: -1, signal }) }
      default:
        return decision satisfies never
    }
  }

  /** A reader who has nothing yet sees what the message said before this run right after its start. */
  async function * fromTheStart (runId: string, initialParts: readonly MessagePart[], signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    let begun = initialParts.length === 0
    for await (const batch of runs.follow(runId, { after: -1, signal })) {
      const [first, ...rest] = batch
      if (begun || first === undefined) {
        yield batch
      } else {
        begun = true
        yield [first, { type: 'snapshot', parts: [...initialParts], seq: first.seq, at: first.at }, ...rest]
      }
    }
  }
}

interface Turn<D = TurnDecision> { readonly decision: D, readonly agent: Agent, readonly thread: Thread | undefined }

/** `unstored`: there is no such thread, and its agent makes none. */
type Begun = Turn<TurnDecision | { readonly kind: 'unstored' }>

function toldTo ({ key }: Agent, { told }: TurnInput): ToldConversation {
  if (told !== undefined) return told()
  throw invalidRequest(`threadId: the agent "${key}" keeps no threads: run it without one.`, [{ path: 'threadId', message: 'expected no thread, since the agent keeps none' }])
}

/** The thread as the agent that waits in it knows it: what goes on is its run, whoever the thread has been given to meanwhile. */
function waitingThread ({ thread, activeRun }: TurnView): Thread | undefined {
  return thread === undefined || activeRun === undefined ? thread : { ...thread, agentId: activeRun.agentId }
}
