import { randomUUID } from 'node:crypto'
import { delay } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import { estimateUsage } from './estimate.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'
import { replyTo } from './offline-reply.ts'
import { callsToMake, sourceOf, type OfflineCall } from './offline-tools.ts'
import { suggestionsOf, titleOf, userTexts } from './offline-words.ts'
import { valueFor } from './schema-value.ts'

/**
 * A model without a model: rules that answer from the user's own words, call the tools these words name, and fill
 * schemas. It says what it is. For trying the service, and for tests, without a key or a network.
 */
export function createOfflineModel ({ wordDelayMs }: { readonly wordDelayMs: number }): Model {
  return { id: 'offline', generate }

  async function * generate (request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Batch<ModelEvent>, void> {
    signal.throwIfAborted()
    const calls = callsToMake(request)
    let characters = 0
    for (const events of calls.length === 0 ? spoken(request) : calls.flatMap(called)) {
      characters += events.reduce((sum, event) => sum + ('delta' in event ? event.delta.length : 0), 0)
      yield events
      // Without a pause of its own a long answer would keep every other run waiting.
      await (wordDelayMs > 0 ? delay(wordDelayMs, signal) : nextTurn())
      signal.throwIfAborted()
    }
    yield [
      { type: 'usage', usage: estimateUsage(request, characters), estimated: true },
      { type: 'finish', reason: calls.length === 0 ? 'stop' : 'tool-calls' }
    ]
  }
}

function called ({ toolName, arguments: text }: OfflineCall): Batch<ModelEvent>[] {
  const callId = `call_${randomUUID()}`
  return [
    [{ type: 'tool-call-start', callId, toolName }],
    [{ type: 'tool-input-delta', callId, delta: text }],
    [{ type: 'tool-call', callId, toolName, arguments: text, complete: true }]
  ]
}

function * spoken (request: ModelRequest): Generator<Batch<ModelEvent>> {
  const pieces = request.responseSchema === undefined ? answerOf(request).match(/\s*\S+\s*?/g) : structured(request, request.responseSchema).match(/.{1,12}/gsu)
  for (const delta of pieces ?? []) yield [{ type: 'text-delta', delta }]
}

function answerOf (request: ModelRequest): string {
  const texts = userTexts(request.messages)
  const wantsTitle = /\btitle\b/i.test(request.instructions) && request.messages.length === 1 && request.tools.length === 0
  return wantsTitle ? titleOf(texts[0] ?? '') : replyTo(request)
}

function structured ({ messages }: ModelRequest, schema: NonNullable<ModelRequest['responseSchema']>): string {
  const asked = userTexts(messages).at(-1) ?? ''
  const fields = schema['properties']
  if (asked.startsWith('<conversation>') && typeof fields === 'object' && fields !== null && 'suggestions' in fields) return JSON.stringify({ suggestions: suggestionsOf(asked) })
  return JSON.stringify(valueFor(schema, sourceOf(asked, { optional: 'all' })))
}

function nextTurn (): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve) })
}
