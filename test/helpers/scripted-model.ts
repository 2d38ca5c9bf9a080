import type { Batch } from '../../src/streams/batch.ts'
import type { Model, ModelEvent, ModelRequest } from '../../src/models/model.ts'
import { untilAborted } from '../../src/streams/abort.ts'

/** A text delta, an event, or something that happens between them. */
export type ScriptStep = string | ModelEvent | { readonly waitMs: number } | { readonly until: Promise<unknown> } | { readonly hang: true } | { readonly throw: unknown }

export interface ScriptedModel extends Model {
  /** What it was asked, in order. */
  readonly requests: ModelRequest[]
  /** How many of its streams have ended, by their end, by an error or by being closed. */
  readonly closed: () => number
}

/**
 * A model that plays one response per call, the last one again when they run out. `usage` and `finish` are added where a
 * response does not end in a finish of its own or in an error. Each event is a batch. An abort ends waits and hangs;
 * with `deaf` it does not, as in a model that does not listen.
 */
export function scriptedModel (responses: ReadonlyArray<readonly ScriptStep[]>, { id = 'test:scripted', deaf = false }: { id?: string, deaf?: boolean } = {}): ScriptedModel {
  const requests: ModelRequest[] = []
  let closed = 0

  return { id, requests, closed: () => closed, generate }

  async function * generate (request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Batch<ModelEvent>, void> {
    const steps = responses[Math.min(requests.length, responses.length - 1)] ?? []
    requests.push(request)
    try {
      for (const step of [...steps, ...missingEnd(steps)]) {
        if (!deaf) signal.throwIfAborted()
        if (typeof step === 'string') yield [{ type: 'text-delta', delta: step }]
        else if ('type' in step) yield [step]
        else if ('throw' in step) throw step.throw
        else if ('until' in step) await (deaf ? step.until : untilAborted(step.until, signal))
        else await pause('waitMs' in step ? step.waitMs : undefined, deaf ? undefined : signal)
      }
    } finally {
      closed++
    }
  }
}

/** The three events of one whole tool call. */
export function toolCall (callId: string, toolName: string, input: unknown = {}): ModelEvent[] {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return [
    { type: 'tool-call-start', callId, toolName },
    { type: 'tool-input-delta', callId, delta: text },
    { type: 'tool-call', callId, toolName, arguments: text, complete: true }
  ]
}

function missingEnd (steps: readonly ScriptStep[]): ModelEvent[] {
  const events = steps.filter((step): step is ModelEvent => typeof step === 'object' && 'type' in step)
  if (events.some((event) => event.type === 'finish')) return []
  const usage: ModelEvent = { type: 'usage', usage: { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, estimated: false }
  const finish: ModelEvent = { type: 'finish', reason: events.some((event) => event.type === 'tool-call') ? 'tool-calls' : 'stop' }
  return events.some((event) => event.type === 'usage') ? [finish] : [usage, finish]
}

/** For ever without `ms`. */
async function pause (ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = ms === undefined ? undefined : setTimeout(done, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
    function onAbort () {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    function done () {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
  })
}
