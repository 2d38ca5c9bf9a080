import type { Principal } from '../auth/principal.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { Attachments } from '../files/attachments.ts'
import type { TurnRequest } from '../messages/turn-request.ts'
import type { Batch } from '../streams/batch.ts'

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
export async function * reportingDropped (events: AsyncIterable<Batch<RunEventBody>>, dropped: readonly string[]): AsyncGenerator<Batch<RunEventBody>, void> {
  let told = dropped.length === 0
  for await (const batch of events) {
    yield batch
    if (told) continue
    told = true
    yield [{ type: 'data', name: 'unavailable-files', data: { fileIds: [...dropped] }, transient: true }]
  }
}
