import type { AgentRegistry } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import type { Memories } from '../memories/memories.ts'
import { invalidRequest, notFound, threadBusy } from '../errors.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import type { MessageView, Rating } from './message.ts'
import type { HistoryQuery, Page, Thread, ThreadPatch, ThreadQuery, ThreadStore, UsageLine } from './thread-store.ts'

export interface NewThread {
  readonly id?: string | undefined
  /** Id, key or alias; the default agent when absent. */
  readonly agentId?: string | undefined
  readonly title?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Threads of one owner. What is not there, or not theirs, is not_found. */
export interface ThreadService {
  create: (principal: Principal, thread: NewThread) => Promise<Thread>
  get: (principal: Principal, threadId: string) => Promise<Thread>
  list: (principal: Principal, query: ThreadQuery) => Promise<Page<Thread>>
  /** thread_busy for a new head while an answer is being written. */
  update: (principal: Principal, threadId: string, patch: ThreadPatch) => Promise<Thread>
  /** Stops what runs in the thread first. */
  remove: (principal: Principal, threadId: string) => Promise<void>
  removeAll: (principal: Principal) => Promise<number>
  history: (principal: Principal, threadId: string, query: HistoryQuery) => Promise<Page<MessageView>>
  siblings: (principal: Principal, threadId: string, messageId: string, query: { limit: number, cursor?: string | undefined }) => Promise<Page<MessageView>>
  /** thread_busy for a message that is being written. */
  removeMessage: (principal: Principal, threadId: string, messageId: string) => Promise<void>
  restoreMessage: (principal: Principal, threadId: string, messageId: string) => Promise<MessageView>
  rate: (principal: Principal, threadId: string, messageId: string, rating: Rating) => Promise<void>
  unrate: (principal: Principal, threadId: string, messageId: string) => Promise<void>
  usage: (principal: Principal, threadId: string) => Promise<readonly UsageLine[]>
}

export interface ThreadServiceOptions {
  readonly store: ThreadStore
  readonly turns: Pick<TurnStore, 'activeRun'>
  readonly agents: AgentRegistry
  readonly chat: { stop: (principal: Principal, threadId: string) => Promise<unknown> }
  /** Takes what else belongs to threads away with them; `threadId` is absent for all of the principal's. */
  readonly files: { withThreads: <T>(principal: Principal, threadId: string | undefined, work: () => Promise<T>) => Promise<T> }
  /** Forgets what agents keep of them outside of the database. */
  readonly memories: Pick<Memories, 'forget'>
  readonly newId: () => string
}

export function createThreadService ({ store, turns, agents, chat, files, memories, newId }: ThreadServiceOptions): ThreadService {
  return {
    create: async (principal, { id = newId(), agentId, title, metadata }) =>
      await store.create(principal, { id, agentId: agentIdOf(agentId), title, metadata }),
    get: async (principal, threadId) => found('thread', await store.get(principal, threadId)),
    list: async (principal, query) => await store.list(principal, { ...query, agentId: query.agentId === undefined ? undefined : agents.find(query.agentId)?.id ?? query.agentId }),
    async update (principal, threadId, patch) {
      if (patch.headId !== undefined) await assertIdle(principal, threadId)
      const agentId = patch.agentId === undefined ? undefined : agentIdOf(patch.agentId)
      return found('thread', await store.update(principal, threadId, { ...patch, agentId }))
    },
    async remove (principal, threadId) {
      await chat.stop(principal, threadId)
      if (!await files.withThreads(principal, threadId, () => store.remove(principal, threadId))) throw notFound('thread')
      await memories.forget(principal, threadId)
    },
    async removeAll (principal) {
      const removed = await files.withThreads(principal, undefined, () => store.removeAll(principal))
      await memories.forget(principal, undefined)
      return removed
    },
    history: async (principal, threadId, query) => found('thread', await store.history(principal, threadId, query)),
    siblings: async (principal, threadId, messageId, query) => found('message', await store.siblings(principal, threadId, messageId, query)),
    async removeMessage (principal, threadId, messageId) {
      await assertIdle(principal, threadId, messageId)
      if (!await store.removeMessage(principal, threadId, messageId)) throw notFound('message')
    },
    restoreMessage: async (principal, threadId, messageId) => found('message', await store.restoreMessage(principal, threadId, messageId)),
    async rate (principal, threadId, messageId, rating) {
      if (!await store.rate(principal, threadId, messageId, rating)) throw notFound('message')
    },
    async unrate (principal, threadId, messageId) {
      if (!await store.unrate(principal, threadId, messageId)) throw notFound('message')
    },
    usage: async (principal, threadId) => found('thread', await store.usage(principal, threadId))
  }

  function agentIdOf (asked: string | undefined): string {
    const agent = asked === undefined ? agents.defaultAgent() : agents.find(asked)
    if (agent === undefined || (agent.hidden && !agent.directAccess)) {
      throw invalidRequest('agentId: there is no such agent.', [{ path: 'agentId', message: asked === undefined ? 'expected an agent, since there is no default' : 'expected the id or key of an agent' }])
    }
    return agent.id
  }

  async function assertIdle (principal: Principal, threadId: string, messageId?: string): Promise<void> {
    const run = await turns.activeRun(principal, threadId)
    if (run?.status === 'running' && (messageId === undefined || run.messageId === messageId)) throw threadBusy(run.id)
  }
}

function found<T> (what: string, value: T | undefined): T {
  if (value === undefined) throw notFound(what)
  return value
}
