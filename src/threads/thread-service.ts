import type { Agent } from '../agents/agent.ts'
import { askableAgent } from '../agents/askable-agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Permissions } from '../auth/permissions.ts'
import { asOwner, type Principal } from '../auth/principal.ts'
import type { Memories } from '../memories/memories.ts'
import { AppError, invalidRequest, notFound, threadBusy } from '../errors.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import { storageName } from '../storage/define-storage.ts'
import type { MessageView, Rating } from './message.ts'
import type { ThreadAccess } from './thread-access.ts'
import type { HistoryQuery, Page, Thread, ThreadPatch, ThreadQuery, ThreadStore, UsageLine } from './thread-store.ts'

export interface NewThread {
  readonly id?: string | undefined
  /** Id, key or alias; the default agent when absent. */
  readonly agentId?: string | undefined
  readonly title?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Threads. What is not there, or not for the caller to see, is not_found; what they may see and not do is permission_denied. */
export interface ThreadService {
  create: (principal: Principal, thread: NewThread) => Promise<Thread>
  get: (principal: Principal, threadId: string) => Promise<Thread>
  list: (principal: Principal, query: ThreadQuery) => Promise<Page<Thread>>
  /** thread_busy for a new head while an answer is being written. */
  update: (principal: Principal, threadId: string, patch: ThreadPatch) => Promise<Thread>
  /** Stops what runs in the thread first. */
  remove: (principal: Principal, threadId: string) => Promise<void>
  /** The caller's own, as far as they may. */
  removeAll: (principal: Principal) => Promise<number>
  /** Stops what runs in the thread, or lets go of what it waits for; the id of that run. */
  stop: (principal: Principal, threadId: string) => Promise<string | undefined>
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
  /** Knows where a thread is kept. */
  readonly storages: { nameOf: (principal: Principal, threadId: string) => Promise<string> }
  readonly access: ThreadAccess
  readonly turns: Pick<TurnStore, 'activeRun'>
  readonly agents: AgentRegistry
  readonly permissions: Permissions
  readonly chat: { stop: (principal: Principal, threadId: string) => Promise<string | undefined> }
  /** Takes what else belongs to threads away with them; `threadId` is absent for all of the principal's. */
  readonly files: { withThreads: <T>(principal: Principal, threadId: string | undefined, work: () => Promise<T>) => Promise<T> }
  /** Forgets what agents keep of them outside of the database. */
  readonly memories: Pick<Memories, 'forget'>
  readonly newId: () => string
}

export function createThreadService ({ store, storages, access, turns, agents, permissions, chat, files, memories, newId }: ThreadServiceOptions): ThreadService {
  return {
    async create (principal, { id = newId(), agentId: asked, title, metadata }) {
      const agent = agentOf(principal, asked)
      if (agent.storage === 'none') throw invalidRequest('agentId: this agent keeps no threads: send it messages without making one.', [{ path: 'agentId', message: 'expected an agent that keeps threads' }])
      const agentId = agent.id
      access.assertMayMake(principal, 'manage_thread', { threadId: id, agentId, metadata })
      return await store.create(principal, { id, agentId, title, metadata })
    },
    get: async (principal, threadId) => found('thread', await store.get(await access.enter(principal, 'view_thread', { threadId }), threadId)),
    async list (principal, query) {
      const of = access.listed(principal)
      if (of === 'none') return { items: [], nextCursor: undefined }
      return await store.list(principal, { ...query, of, agentId: query.agentId === undefined ? undefined : agents.find(query.agentId)?.id ?? query.agentId })
    },
    async update (principal, threadId, patch) {
      const asker = await access.enter(principal, 'manage_thread', { threadId })
      if (patch.headId !== undefined) await assertIdle(asker, threadId)
      const agent = patch.agentId === undefined ? undefined : agentOf(principal, patch.agentId)
      if (agent !== undefined) await assertSameStorage(asker, threadId, agent)
      const agentId = agent?.id
      return found('thread', await store.update(asker, threadId, { ...patch, agentId }))
    },
    remove: async (principal, threadId) => { await remove(await access.enter(principal, 'manage_thread', { threadId }), threadId) },
    async removeAll (principal) {
      access.assertMay(principal, 'manage_thread')
      if (access.asksForEach) return await removeEach(principal)
      const removed = await files.withThreads(principal, undefined, () => store.removeAll(principal))
      await memories.forget(principal, undefined)
      return removed
    },
    async stop (principal, threadId) {
      // Who may say something may also have had enough of the answer.
      const asker = await access.enter(principal, 'chat', { threadId })
      found('thread', await store.get(asker, threadId))
      return await chat.stop(asker, threadId)
    },
    history: async (principal, threadId, query) => found('thread', await store.history(await access.enter(principal, 'view_thread', { threadId }), threadId, query)),
    siblings: async (principal, threadId, messageId, query) => found('message', await store.siblings(await access.enter(principal, 'view_thread', { threadId }), threadId, messageId, query)),
    async removeMessage (principal, threadId, messageId) {
      const asker = await access.enter(principal, 'manage_thread', { threadId })
      await assertIdle(asker, threadId, messageId)
      if (!await store.removeMessage(asker, threadId, messageId)) throw notFound('message')
    },
    restoreMessage: async (principal, threadId, messageId) => found('message', await store.restoreMessage(await access.enter(principal, 'manage_thread', { threadId }), threadId, messageId)),
    async rate (principal, threadId, messageId, rating) {
      if (!await store.rate(await access.enter(principal, 'rate', { threadId }), threadId, messageId, rating)) throw notFound('message')
    },
    async unrate (principal, threadId, messageId) {
      if (!await store.unrate(await access.enter(principal, 'rate', { threadId }), threadId, messageId)) throw notFound('message')
    },
    usage: async (principal, threadId) => found('thread', await store.usage(await access.enter(principal, 'view_thread', { threadId }), threadId))
  }

  async function remove (asker: Principal, threadId: string): Promise<void> {
    await chat.stop(asker, threadId)
    if (!await files.withThreads(asker, threadId, () => store.remove(asker, threadId))) throw notFound('thread')
    await memories.forget(asOwner(asker), threadId)
  }

  /** Of the caller's own threads those that they may remove. */
  async function removeEach (principal: Principal): Promise<number> {
    let removed = 0
    for (let cursor: string | undefined, page; page === undefined || cursor !== undefined; cursor = page.nextCursor) {
      page = await store.list(principal, { limit: 100, cursor })
      for (const thread of page.items.filter((thread) => access.may(principal, 'manage_thread', thread))) {
        await remove(principal, thread.id)
        removed++
      }
    }
    return removed
  }

  /** A thread stays where it is, also with the agent it has, whatever that one says by now of new threads. */
  async function assertSameStorage (principal: Principal, threadId: string, { id, storage }: Agent): Promise<void> {
    if (storageName(storage) === await storages.nameOf(principal, threadId)) return
    const thread = found('thread', await store.get(principal, threadId))
    if (thread.agentId === id) return
    throw new AppError('conflict', 'This agent keeps its threads elsewhere, and a thread stays where it is.', { details: { issues: [{ path: 'agentId', message: 'expected an agent with the storage of the thread' }] } })
  }

  function agentOf (principal: Principal, asked: string | undefined): Agent {
    const agent = askableAgent({ agents, permissions }, principal, asked, 'chat')
    if (agent !== undefined) return agent
    throw invalidRequest('agentId: there is no such agent.', [{ path: 'agentId', message: asked === undefined ? 'expected an agent, since there is no default' : 'expected the id or key of an agent' }])
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
