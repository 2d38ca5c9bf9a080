import type { RunEventBody } from '../events/run-event.ts'
import type { ModelMessage } from '../models/model.ts'
import { untilAborted } from '../streams/abort.ts'
import type { TurnMemory } from './turn-memory.ts'

interface MemoryLog {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/** Keeps a completed turn. Where that cannot be, the answer stands all the same: what comes back tells the client. Throws the signal's reason when it aborts. */
export async function rememberTurn (memory: TurnMemory, messages: readonly ModelMessage[], { log, signal }: { readonly log: MemoryLog, readonly signal: AbortSignal }): Promise<readonly RunEventBody[]> {
  try {
    if (await untilAborted(memory.remember(messages), signal)) return []
    log.warn({}, 'a turn was not remembered, because another one changed the memory meanwhile')
  } catch (error) {
    signal.throwIfAborted()
    log.error({ err: error }, 'a turn could not be remembered')
  }
  return [{ type: 'data', name: 'unavailable', data: { stage: 'memory', detail: 'This turn will not be remembered.' }, transient: true }]
}
