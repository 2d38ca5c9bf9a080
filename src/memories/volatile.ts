import type { ModelMessage } from '../models/model.ts'
import type { MemoryThread, VersionedMemory } from './memory.ts'

export interface VolatileOptions {
  /** What an agent remembers of a thread that is new to it. */
  readonly initial?: readonly ModelMessage[]
  /** How many threads are kept, 1,000 when absent. One more, and that which was not prepared or remembered for longest is forgotten. */
  readonly threadsLimit?: number
}

interface Kept {
  /** As text, so that nobody changes what is remembered, and what comes out is a copy. */
  readonly messages: string
  readonly version: string | undefined
}

/** A memory in this process: gone when it ends, and unknown to others. Throws for a limit that is no whole number above 0. */
export function volatile ({ initial = [], threadsLimit = 1_000 }: VolatileOptions = {}): Required<VersionedMemory> {
  if (!Number.isSafeInteger(threadsLimit) || threadsLimit < 1) throw new TypeError('volatile: threadsLimit must be a whole number above 0')
  const nothing: Kept = { messages: JSON.stringify(initial), version: undefined }
  // The order of a Map is that of insertion: the first is the one to be forgotten.
  const threads = new Map<string, Kept>()

  return {
    prepare: async (thread) => {
      keep(keyOf(thread), threads.get(keyOf(thread)) ?? nothing)
    },
    recall: async (thread) => {
      const { messages, version } = threads.get(keyOf(thread)) ?? nothing
      return { messages: JSON.parse(messages) as ModelMessage[], version } // written below
    },
    remember: async (thread, messages, { version, replaces }) => {
      const key = keyOf(thread)
      const current = threads.get(key)?.version
      // Forgotten for want of room is not changed by another.
      if (current !== undefined && current !== replaces) return false
      keep(key, { messages: JSON.stringify(messages), version })
      return true
    },
    forget: async ({ tenantId, userId }, threadId) => {
      for (const key of threads.keys()) {
        const [tenant, user, , thread] = JSON.parse(key) as string[] // by keyOf
        if (tenant === tenantId && user === userId && (threadId === undefined || thread === threadId)) threads.delete(key)
      }
    }
  }

  function keep (key: string, kept: Kept): void {
    threads.delete(key)
    threads.set(key, kept)
    const [oldest] = threads.keys()
    if (threads.size > threadsLimit && oldest !== undefined) threads.delete(oldest)
  }
}

function keyOf ({ principal, agentId, threadId }: MemoryThread): string {
  return JSON.stringify([principal.tenantId, principal.userId, agentId, threadId])
}
