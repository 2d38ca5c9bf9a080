import { AppError } from '../errors.ts'
import type { ModelMessage } from '../models/model.ts'
import type { Tool } from '../tools/tool.ts'
import type { Memory, MemoryThread, Recollection } from './memory.ts'

export interface TurnMemoryOptions {
  readonly memory: Memory
  readonly thread: MemoryThread
  /** The id of the answer. */
  readonly answerId: string
  /** Ids of the messages before it, on its branch. */
  readonly path: readonly string[]
  /** What is stored of that branch before the question: what is recalled where the memory is of another branch. */
  readonly stored: readonly ModelMessage[]
}

/** An agent's memory, for one turn. */
export interface TurnMemory {
  /** Tools for this turn; before recall. */
  readonly prepare: (instructions: string) => Promise<readonly Tool[]>
  /** What was said before the question. Once a turn: configuration_error the second time. */
  readonly recall: () => Promise<readonly ModelMessage[]>
  /** The whole of what the next turn recalls. False when it was refused, because the memory has changed since this turn recalled it. */
  readonly remember: (messages: readonly ModelMessage[]) => Promise<boolean>
}

export function createTurnMemory ({ memory, thread, answerId, path, stored }: TurnMemoryOptions): TurnMemory {
  const recalled = once()
  let seen: { readonly version: string | undefined } | undefined

  return {
    prepare: async (instructions) => await memory.prepare?.(thread, instructions) ?? [],
    recall: async () => {
      recalled()
      const recollection = await read()
      // Written with an answer that is not on this branch: the question was edited, or is answered once more.
      const isElsewhere = recollection.version !== undefined && !path.includes(recollection.version)
      return isElsewhere ? stored : recollection.messages
    },
    remember: async (messages) => {
      const { version: replaces } = seen ?? await read()
      const kept = await memory.remember(thread, messages.map(withoutImages), { version: answerId, replaces })
      if (kept !== false) seen = { version: answerId }
      return kept !== false
    }
  }

  async function read (): Promise<Recollection> {
    const given = await memory.recall(thread)
    const recollection = 'messages' in given ? given : { messages: given, version: undefined }
    seen = recollection
    return recollection
  }
}

/** The memory of an agent that has none, or of a run without a thread. */
export function noTurnMemory (): TurnMemory {
  const recalled = once()
  return {
    prepare: async () => [],
    recall: async () => {
      recalled()
      return []
    },
    remember: async () => true
  }
}

function once (): () => void {
  let done = false
  return () => {
    if (done) throw new AppError('configuration_error', 'An agent recalls its memory once a turn, and this one did so twice.')
    done = true
  }
}

/** Images are shown with the newest question only. */
function withoutImages (message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || message.images === undefined) return message
  const { images, ...rest } = message
  return rest
}
