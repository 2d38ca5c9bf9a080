import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, invalidRequest, isAppError, notFound, RunStopped } from '../errors.ts'
import type { Attachments } from '../files/attachments.ts'
import type { RunEvent } from '../events/run-event.ts'
import { limitHistory, toModelMessages } from '../messages/history.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { TurnRequest } from '../messages/turn-request.ts'
import type { JsonSchema, ModelMessage } from '../models/model.ts'
import { responseShape } from '../runtime/response-shape.ts'
import { runAgent } from '../runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../runtime/run-input.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { Thread } from '../threads/thread-store.ts'
import { reportingDropped, withOwnFiles } from './attached-files.ts'
import type { Checkpointer } from './checkpointer.ts'
import { decideLetGo, decideTurn, lookupOf, type TurnDecision, type TurnIds } from './decide-turn.ts'
import { leaseUntil } from './lease-keeper.ts'
import type { Recovery } from './recovery.ts'
import { replayMessage } from './replay-message.ts'
import type { Reservation, RunRegistry } from './run-registry.ts'
import { titled } from './titled.ts'
import { createTurnRecorder } from './turn-recorder.ts'
import type { TurnPlan, TurnStore, TurnView } from './turn-store.ts'

// Newest messages a turn reads; compaction to the model's window comes on top of this.
const contextLimit = 1_000

export interface ChatOptions {
  readonly agents: AgentRegistry
  readonly turns: TurnStore
  readonly runs: RunRegistry
  readonly recovery: Recovery
  readonly checkpointer: Checkpointer
  readonly holder: string
  readonly deps: RunDeps
  readonly attachments: Attachments
  readonly historyToolOutputLimit: number
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
  /** How the run is made, where that is not a chat's way. */
  readonly run?: Pick<RunInput, 'mode' | 'useTools' | 'canSuspend' | 'response'>
}

export interface StatelessInput {
  readonly agentId: string | undefined
  /** The whole conversation, as the client tells it. */
  readonly messages: readonly ModelMessage[]
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** What this caller asks for beside the agent's own. */
  readonly run?: Pick<RunInput, 'callerInstructions' | 'settings'>
  /** A JSON schema that the answer must have the shape of, and the name its caller gave it by. */
  readonly response?: { readonly schema: JsonSchema, readonly path: string } | undefined
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
   * read. Throws not_found, invalid_request, conflict, thread_busy, configuration_error, storage_unavailable or
   * shutting_down, and nothing is stored then.
   */
  takeTurn: (principal: Principal, input: TurnInput) => Promise<Reply>
  /** One turn of a conversation that only the client keeps: nothing is stored. */
  takeStatelessTurn: (principal: Principal, input: StatelessInput) => Promise<Reply>
  /** The thread's running answer from its very first event; undefined when nothing runs here. */
  resume: (principal: Principal, threadId: string) => Promise<Reply | undefined>
  /** Stops what runs in the thread, or lets go of what it waits for; the id of that run. Idempotent. */
  stop: (principal: Principal, threadId: string) => Promise<string | undefined>
}

const chatRun = { mode: 'chat', useTools: true, canSuspend: true } as const

export function createChat (options: ChatOptions): ChatService {
  const { agents, turns, runs, recovery, holder, deps, attachments } = options

  return {
    async takeTurn (principal, asked) {
      const { input, dropped } = await withOwnFiles(attachments, principal, asked)
      const ids = { runId: options.newId(), userMessageId: options.newId(), answerId: options.newId() }
      const reservation = runs.reserve(ids.runId)
      try {
        const turn = await freeingThread(() => beginWithFallback(principal, input, ids))
        if (turn.decision.kind === 'run') await start(principal, input, { ...turn, decision: turn.decision, dropped }, reservation)
        return replyTo(principal, input.threadId, turn)
      } finally {
        reservation.release()
      }
    },
    async takeStatelessTurn (principal, { agentId, messages, metadata = {}, run, response }) {
      const agent = newThreadsAgent(agentId)
      const shape = response === undefined ? undefined : responseShape(response.schema, response.path)
      const [runId, messageId] = [options.newId(), options.newId()]
      const runDeps = { ...deps, log: deps.log.child({ runId }) }
      await runs.reserve(runId).start({
        // Nothing is kept of it, so a run that nobody reads any more is for nobody.
        principal, messageId, threadId: undefined, initialParts: [], onDisconnect: 'stop',
        events: (signal) => runAgent({ ...chatRun, ...run, canSuspend: false, ...(shape === undefined ? {} : { response: shape }), runId, messageId, agent, principal, metadata, threadId: undefined, history: messages }, runDeps, signal)
      })
      return { runId, threadId: undefined, agent, initialParts: [], events: (signal) => runs.follow(runId, { after: -1, signal }) }
    },
    async resume (principal, threadId) {
      const run = await turns.activeRun(principal, threadId)
      if (run?.status !== 'running') return undefined
      const known = runs.known(principal, run.id)
      return known === undefined ? undefined : { runId: run.id, threadId, agent: agents.find(run.agentId), initialParts: [], events: (signal) => fromTheStart(run.id, known.initialParts, signal) }
    },
    async stop (principal, threadId) {
      const run = await turns.activeRun(principal, threadId)
      if (run === undefined) return undefined
      if (run.status === 'suspended') await turns.begin(principal, threadId, { contextLimit }, decideLetGo)
      else if (!await runs.stop(run.id, new RunStopped('stopped by the user'))) await recovery.recover(run.id)
      return run.id
    }
  }

  interface Turn { readonly decision: TurnDecision, readonly agent: Agent, readonly thread: Thread | undefined }
  /** A turn that comes to a run, and the files it was asked with that are not the thread's. */
  interface StartedTurn extends Turn { readonly decision: TurnDecision & { kind: 'run' }, readonly dropped: readonly string[] }

  async function begin (principal: Principal, input: TurnInput, ids: TurnIds): Promise<Turn> {
    const { threadId, request } = input
    return await turns.begin<Turn>(principal, threadId, { lookup: lookupOf(request), contextLimit }, (view) => {
      const agent = agentFor(view, input)
      const plan = decideTurn(view, request, ids, { agentId: agent.id, model: agent.model, holder, leaseUntil: leaseUntil(), metadata: input.metadata })
      return { ...plan, result: { decision: plan.result, agent, thread: view.thread } } satisfies TurnPlan<Turn>
    })
  }

  /** An answer to replace that the store does not know by the client's id is found by what the client kept before it. */
  async function beginWithFallback (principal: Principal, input: TurnInput, ids: TurnIds): Promise<Turn> {
    try {
      return await begin(principal, input, ids)
    } catch (error) {
      const { request } = input
      if (request.kind !== 'regenerate' || request.messageId === undefined || request.fallbackId === undefined || !isAppError(error) || error.code !== 'not_found') throw error
      return await begin(principal, { ...input, request: { kind: 'regenerate', messageId: request.fallbackId } }, ids)
    }
  }

  function agentFor ({ thread }: TurnView, { agentId }: TurnInput): Agent {
    if (thread === undefined) return newThreadsAgent(agentId)
    const agent = agents.find(thread.agentId)
    if (agent === undefined) throw new AppError('configuration_error', "This thread's agent is not configured any more. Choose another with PATCH {agentId}.")
    if (agentId !== undefined && askable(agentId).id !== agent.id) {
      throw new AppError('conflict', 'This thread belongs to another agent. Change it with PATCH {agentId}.', { details: { issues: [{ path: 'agentId', message: `expected ${agent.id}` }] } })
    }
    return reachable(agent)
  }

  function newThreadsAgent (agentId: string | undefined): Agent {
    const agent = agentId === undefined ? agents.defaultAgent() : askable(agentId)
    if (agent === undefined) throw invalidRequest('agentId: say which agent should answer.', [{ path: 'agentId', message: 'expected the id of an agent, since there is no default' }])
    return reachable(agent)
  }

  function askable (agentId: string): Agent {
    const agent = agents.find(agentId)
    if (agent === undefined || (agent.hidden && !agent.directAccess)) throw notFound('agent')
    return agent
  }

  /** A model that cannot be reached by configuration is an answer before anything is stored. */
  function reachable (agent: Agent): Agent {
    deps.models.get(agent.model)
    return agent
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

  async function start (principal: Principal, input: TurnInput, { agent, thread, decision, dropped }: StartedTurn, reservation: Reservation): Promise<void> {
    const { runId, messageId, continues } = decision
    const metadata = { ...thread?.metadata, ...input.metadata }
    const runDeps = { ...deps, log: deps.log.child({ runId, threadId: input.threadId }) }
    const runInput: RunInput = {
      ...chatRun, ...input.run, runId, messageId, agent, principal, metadata, threadId: input.threadId,
      history: await contextOf(principal, input.threadId, decision, agent),
      ...(continues === undefined ? {} : { answered: continues.events })
    }
    const initialParts = continues?.parts ?? []
    const recorder = createTurnRecorder({
      turns, holder, runId, messageId, initialParts, checkpointer: options.checkpointer, log: runDeps.log,
      abort: reservation.abort,
      lost: () => new RunStopped('the thread is gone')
    })
    const wantsTitle = agent.titleGeneration && (thread === undefined || thread.title === undefined)
    await reservation.start({
      principal, messageId, initialParts, threadId: input.threadId, onDisconnect: agent.onDisconnect,
      record: (events) => recorder.record(events),
      events: (signal) => {
        const events = reportingDropped(runAgent(runInput, runDeps, signal), dropped)
        return wantsTitle ? titled(events, { deps: runDeps, turns, agent, principal, threadId: input.threadId, context: decision.context, signal }) : events
      }
    })
  }

  async function contextOf (principal: Principal, threadId: string, { context }: TurnDecision & { kind: 'run' }, agent: Agent) {
    const kept = agent.maxHistory === undefined ? context : limitHistory(context, agent.maxHistory)
    const files = await attachments.contextFor({ principal, threadId, agent, messages: kept })
    return toModelMessages(kept, { toolOutputLimit: options.historyToolOutputLimit, attachments: files })
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
