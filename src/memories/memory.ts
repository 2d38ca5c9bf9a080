import type { Principal } from '../auth/principal.ts'
import type { ModelMessage } from '../models/model.ts'
import type { Tool } from '../tools/tool.ts'

/** Of what there is a memory: one agent's, in one thread of one owner. */
export interface MemoryThread {
  readonly principal: Pick<Principal, 'tenantId' | 'userId'>
  readonly agentId: string
  readonly threadId: string
}

export interface Recollection {
  readonly messages: readonly ModelMessage[]
  /** The id of the answer it was remembered with; undefined where nothing was remembered yet. */
  readonly version: string | undefined
}

export interface Remembering {
  /** The id of the answer that is remembered: the version of what the next recall gives. */
  readonly version: string
  /** The version the turn began with. */
  readonly replaces: string | undefined
}

type Awaitable<T> = T | Promise<T>

/**
 * What an agent keeps of a thread between turns. What is remembered is exactly what the next recall gives: a snapshot,
 * which may be shorter than the conversation, or something else.
 */
export interface Memory {
  /** Before every recall of a turn, with the agent's instructions; idempotent. Its tools live for that turn and replace those of the agent that have the same name. */
  readonly prepare?: (thread: MemoryThread, instructions: string) => Awaitable<readonly Tool[] | void>
  /** Messages alone are of no version: nothing tells then whether another turn was faster. */
  readonly recall: (thread: MemoryThread) => Awaitable<Recollection | readonly ModelMessage[]>
  /** After a turn that completed. False, and nothing kept, when what is there is not the version to be replaced. */
  readonly remember: (thread: MemoryThread, messages: readonly ModelMessage[], remembering: Remembering) => Awaitable<boolean | void>
  /** What is kept of a thread, or of all threads of an owner, goes. */
  readonly forget?: (owner: MemoryThread['principal'], threadId: string | undefined) => Awaitable<void>
}

/** A memory in which no turn loses the update of another. */
export interface VersionedMemory extends Memory {
  readonly recall: (thread: MemoryThread) => Promise<Recollection>
  readonly remember: (thread: MemoryThread, messages: readonly ModelMessage[], remembering: Remembering) => Promise<boolean>
}

export function isMemory (value: unknown): value is Memory {
  if (typeof value !== 'object' || value === null) return false
  const { prepare, recall, remember, forget } = value as Partial<Record<keyof Memory, unknown>>
  return [recall, remember].every(isFunction) && [prepare, forget].every((method) => method === undefined || isFunction(method))
}

function isFunction (value: unknown): boolean {
  return typeof value === 'function'
}
