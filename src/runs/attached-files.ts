import type { Principal } from '../auth/principal.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { Attachments } from '../files/attachments.ts'
import type { TurnRequest } from '../messages/turn-request.ts'
import type { Batch, BatchStream } from '../streams/batch.ts'

export interface AskedTurn {
  readonly threadId: string
  readonly request: TurnRequest
  readonly baseUrl?: string | undefined
}

/** A request whose files are those of its thread, and the ids of those that are not. */
export async function withOwnFiles<T extends AskedTurn> (attachments: Attachments, principal: Principal, input: T): Promise<{ input: T, dropped: readonly string[] }> {
  const { request, threadId, baseUrl } = input
  if (request.kind !== 'message') return { input, dropped: [] }
  const { parts, dropped } = await attachments.resolve(principal, threadId, request.parts, baseUrl)
  return { input: { ...input, request: { ...request, parts } }, dropped }
}

/** Tells the client, right after the start, which of its files were left out. */
export function reportingDropped (events: BatchStream<RunEventBody>, dropped: readonly string[]): BatchStream<RunEventBody> {
  return dropped.length === 0 ? events : reporting(events, dropped)
}

async function * reporting (events: BatchStream<RunEventBody>, dropped: readonly string[]): AsyncGenerator<Batch<RunEventBody>, void> {
  let told = false
  for await (const batch of events) {
    yield batch
    if (told) continue
    told = true
    yield [{ type: 'data', name: 'unavailable-files', data: { fileIds: [...dropped] }, transient: true }]
  }
}
