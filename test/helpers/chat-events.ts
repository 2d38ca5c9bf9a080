import type { ModelEvent } from '../../src/models/model.ts'
import type { BatchStream } from '../../src/streams/batch.ts'

export interface Heard {
  readonly events: ModelEvent[]
  /** What the stream threw at its end. */
  readonly error: unknown
}

/** Reads a model's stream to its end or error. */
export async function hear (stream: BatchStream<ModelEvent>): Promise<Heard> {
  const events: ModelEvent[] = []
  try {
    for await (const batch of stream) events.push(...batch)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

export function eventsOf<T extends ModelEvent['type']> (events: readonly ModelEvent[], type: T): Array<Extract<ModelEvent, { type: T }>> {
  return events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type)
}

export function textOf (events: readonly ModelEvent[]): string {
  return eventsOf(events, 'text-delta').map(({ delta }) => delta).join('')
}

export function reasoningOf (events: readonly ModelEvent[]): string {
  return eventsOf(events, 'reasoning-delta').map(({ delta }) => delta).join('')
}

export function callsOf (events: readonly ModelEvent[]): Array<{ id: string, name: string, arguments: string, complete: boolean }> {
  return eventsOf(events, 'tool-call').map(({ callId, toolName, arguments: text, complete }) => ({ id: callId, name: toolName, arguments: text, complete }))
}

export function finishOf (events: readonly ModelEvent[]): string | undefined {
  return eventsOf(events, 'finish').at(-1)?.reason
}
