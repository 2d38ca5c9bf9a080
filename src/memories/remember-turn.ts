import type { RunEventBody } from '../events/run-event.ts'
import type { ModelMessage } from '../models/model.ts'
import type { TurnMemory } from './turn-memory.ts'

interface MemoryLog {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/** Keeps a completed turn. Where that cannot be, the answer stands all the same: what comes back tells the client. */
export async function rememberTurn (memory: TurnMemory, messages: readonly ModelMessage[], log: MemoryLog): Promise<readonly RunEventBody[]> {
  try {
    if (await memory.remember(messages)) return []
    log.warn({}, 'a turn was not remembered, because another one changed the memory meanwhile')
  } catch (error) {
    log.error({ err: error }, 'a turn could not be remembered')
  }
  return [{ type: 'data', name: 'unavailable', data: { stage: 'memory', detail: 'This turn will not be remembered.' }, transient: true }]
}
