import { totalCost } from '../../events/cost.ts'
import { addUsage, noUsage, type Usage } from '../../events/usage.ts'
import type { FinishReason, RunEvent } from '../../events/run-event.ts'

/** The metadata of a message, the same on `finish` and in history, where `rating` and `siblings` are added. */
export interface MessageMetadata {
  readonly createdAt: string
  readonly status: string
  readonly finishReason?: FinishReason
  readonly usage?: Usage
  readonly costUsd?: number
  readonly processingMs?: number
  readonly model?: string
  readonly threadId?: string
  readonly runId?: string
}

export interface MetadataCollector {
  observe: (event: RunEvent) => void
  at: (status: string, finishReason: FinishReason) => MessageMetadata & Readonly<Record<string, unknown>>
  /** The model's own, once the message has ended. */
  finishReason: () => FinishReason | undefined
}

/** Collects what a run's events tell about its message. A run that broke off tells its usage call by call only. */
export function createMetadata (extra: Readonly<Record<string, unknown>>): MetadataCollector {
  let origin = {}
  let createdAt = ''
  let calls = noUsage
  const costs: Array<number | undefined> = []
  let processingMs: number | undefined
  let total: { finishReason: FinishReason, usage: Usage, costUsd: number | undefined } | undefined

  return {
    finishReason: () => total?.finishReason,
    observe (event) {
      switch (event.type) {
        case 'message-start':
          createdAt = event.at
          origin = { model: event.model, ...(event.threadId === undefined ? {} : { threadId: event.threadId }), runId: event.runId }
          break
        case 'usage':
          calls = addUsage(calls, event.buckets)
          costs.push(event.costUsd)
          break
        case 'message-end':
          total = { finishReason: event.finishReason, usage: event.usage, costUsd: event.costUsd }
          break
        case 'run-completed': case 'run-suspended': case 'run-stopped': case 'run-failed': case 'run-interrupted':
          processingMs = event.processingMs
          break
        default:
      }
    },
    at (status, finishReason) {
      const costUsd = total === undefined ? totalCost(costs) : total.costUsd
      const known = { ...(costUsd === undefined ? {} : { costUsd }), ...(processingMs === undefined ? {} : { processingMs }) }
      return { createdAt, status, finishReason, usage: total?.usage ?? calls, ...known, ...origin, ...extra }
    }
  }
}
