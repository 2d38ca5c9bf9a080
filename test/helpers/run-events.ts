import type { RunEvent, RunEventBody } from '../../src/events/run-event.ts'
import { createAssembler } from '../../src/messages/assembler.ts'
import { noUsage } from '../../src/events/usage.ts'
import type { MessagePart } from '../../src/messages/parts.ts'
import type { Protocol, EncodeOptions } from '../../src/protocols/protocol.ts'
import type { BatchStream } from '../../src/streams/batch.ts'

export const startedAt = '2026-01-02T03:04:05.000Z'

export const started: RunEventBody = { type: 'message-start', messageId: 'msg-1', runId: 'run-1', threadId: 'thread-1', agentId: 'agent-1', model: 'test:model', continued: false }
export const continued: RunEventBody = { ...started, continued: true } as RunEventBody

export function ended (finishReason: 'stop' | 'tool-calls' | 'error' | 'other' = 'stop'): RunEventBody {
  return { type: 'message-end', finishReason, usage: { ...noUsage, input: 7, output: 3 } }
}

/** Events as a log holds them. */
export function stamped (events: readonly RunEventBody[]): RunEvent[] {
  return events.map((event, seq) => ({ ...event, seq, at: startedAt }))
}

export async function * inBatches (events: readonly RunEvent[], size = 1): BatchStream<RunEvent> {
  for (let i = 0; i < events.length; i += size) yield events.slice(i, i + size)
}

/** The whole reply, and the strings it came in. */
export async function encodeAll (protocol: Protocol, events: readonly RunEventBody[], options: EncodeOptions & { batchSize?: number } = {}): Promise<{ text: string, writes: string[] }> {
  const writes: string[] = []
  for await (const frames of protocol.encode(inBatches(stamped(events), options.batchSize), options)) writes.push(frames)
  return { text: writes.join(''), writes }
}

export function assemble (events: readonly RunEventBody[], initial: readonly MessagePart[] = []): readonly MessagePart[] {
  const assembler = createAssembler(initial)
  for (const event of events) assembler.apply(event)
  return assembler.parts()
}

export function asJson<T> (value: T): T {
  return JSON.parse(JSON.stringify(value))
}
