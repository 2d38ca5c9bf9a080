import type { ModelEvent } from './model.ts'
import { providerToolName, providerToolOutcome, sourceOf } from './openai-provider-tools.ts'
import { createToolCallReader } from './openai-tool-calls.ts'

export interface ResponseItems {
  /** What one event says about an item. Types that say nothing new are ignored, also unknown ones. */
  read: (type: string, event: Fields, out: ModelEvent[]) => void
  /** The items of a finished response; they count only where none was streamed. */
  readAll: (output: readonly unknown[], out: ModelEvent[]) => void
  end: (ending: 'whole' | 'cut' | 'lost', out: ModelEvent[]) => void
  /** Whether a function was called. */
  anyCall: () => boolean
  /** How much was said and written as arguments. */
  characters: () => number
}

type Fields = Readonly<Record<string, unknown>>

interface Item {
  readonly key: unknown
  readonly index: number
  /** How much of its text or arguments was streamed. */
  streamed: number
  called: boolean
  done: boolean
}

/** Puts the output items of a response together: messages, reasoning, function calls, tools that the provider runs. */
export function createResponseItems ({ modelId }: { readonly modelId: string }): ResponseItems {
  const calls = createToolCallReader()
  const items: Item[] = []
  let characters = 0

  return { read, readAll, end: (ending, out) => { calls.end(ending, out) }, anyCall: calls.any, characters: () => characters + calls.characters() }

  function read (type: string, event: Fields, out: ModelEvent[]): void {
    switch (type) {
      case 'response.output_item.added': added(itemAt(event), recordOf(event.item), out); break
      case 'response.output_item.done': whole(itemAt(event), recordOf(event.item), out); break
      case 'response.output_text.delta': case 'response.refusal.delta': say('text-delta', event, out); break
      case 'response.reasoning_summary_text.delta': case 'response.reasoning_text.delta': say('reasoning-delta', event, out); break
      case 'response.reasoning_summary_part.added': nextPart(event, out); break
      case 'response.output_text.annotation.added': cite(recordOf(event.annotation), out); break
      case 'response.function_call_arguments.delta': argue(itemAt(event), event.delta, out); break
      case 'response.function_call_arguments.done': argueWhole(itemAt(event), event.arguments, out); break
      default: // The end of a part or a stage of a provider's tool: told by the item itself.
    }
  }

  function readAll (output: readonly unknown[], out: ModelEvent[]): void {
    if (items.length > 0) return
    for (const [index, value] of output.entries()) {
      const item = itemAt({ output_index: index })
      const fields = recordOf(value)
      added(item, fields, out)
      whole(item, fields, out)
    }
  }

  /** By index: some servers give an item another id in each event. */
  function itemAt ({ output_index: index, item_id: id, item }: Fields): Item {
    const key = index ?? id ?? recordOf(item).id
    const known = items.find((candidate) => candidate.key === key)
    if (known !== undefined) return known
    const fresh = { key, index: items.length, streamed: 0, called: false, done: false }
    items.push(fresh)
    return fresh
  }

  function added (item: Item, { type, call_id: callId, id, name }: Fields, out: ModelEvent[]): void {
    const toolName = providerToolName({ type, name })
    if (type === 'function_call' && !item.called) {
      item.called = true
      calls.read([{ index: item.index, id: callId ?? id, name }], out)
    } else if (toolName !== undefined && typeof id === 'string') {
      out.push({ type: 'provider-tool', callId: id, toolName })
    }
  }

  function whole (item: Item, fields: Fields, out: ModelEvent[]): void {
    if (item.done) return
    item.done = true
    switch (fields.type) {
      case 'function_call':
        added(item, fields, out)
        argueWhole(item, fields.arguments, out)
        break
      case 'message':
        messageDone(item, listOf(fields.content), out)
        break
      case 'reasoning': reasoned(item, fields, out); break
      default: toolDone(fields, out)
    }
  }

  function messageDone (item: Item, content: readonly Fields[], out: ModelEvent[]): void {
    if (item.streamed === 0) for (const part of content) sayWhole('text-delta', part, item, out)
    for (const { annotations } of content) for (const annotation of listOf(annotations)) cite(annotation, out)
    if (item.streamed > 0) out.push({ type: 'block-end' })
  }

  function reasoned (item: Item, { id, summary, content, encrypted_content: encryptedContent }: Fields, out: ModelEvent[]): void {
    if (item.streamed === 0) {
      const parts = listOf(summary).length > 0 ? listOf(summary) : listOf(content)
      for (const [at, part] of parts.entries()) {
        if (at > 0) push('reasoning-delta', '\n\n', item, out)
        sayWhole('reasoning-delta', part, item, out)
      }
    }
    const canGoBack = typeof id === 'string' && typeof encryptedContent === 'string' && encryptedContent !== ''
    if (canGoBack) out.push({ type: 'block-end', key: { model: modelId, itemId: id, encryptedContent } })
    else if (item.streamed > 0) out.push({ type: 'block-end' })
  }

  /** A summary has parts, which are paragraphs of one thought. */
  function nextPart (event: Fields, out: ModelEvent[]): void {
    const item = itemAt(event)
    if (item.streamed > 0) push('reasoning-delta', '\n\n', item, out)
  }

  function say (type: 'text-delta' | 'reasoning-delta', event: Fields, out: ModelEvent[]): void {
    if (typeof event.delta === 'string') push(type, event.delta, itemAt(event), out)
  }

  function sayWhole (type: 'text-delta' | 'reasoning-delta', part: Fields, item: Item, out: ModelEvent[]): void {
    const text = part.text ?? part.refusal
    if (typeof text === 'string') push(type, text, item, out)
  }

  function push (type: 'text-delta' | 'reasoning-delta', delta: string, item: Item, out: ModelEvent[]): void {
    if (delta === '') return
    item.streamed += delta.length
    characters += delta.length
    out.push({ type, delta })
  }

  function argue (item: Item, delta: unknown, out: ModelEvent[]): void {
    if (typeof delta !== 'string' || delta === '') return
    item.streamed += delta.length
    calls.read([{ index: item.index, arguments: delta }], out)
  }

  /** Some servers stream no arguments; others, after a cut, only a part of them. */
  function argueWhole (item: Item, text: unknown, out: ModelEvent[]): void {
    if (typeof text === 'string' && text.length > item.streamed) argue(item, text.slice(item.streamed), out)
  }

  function toolDone (fields: Fields, out: ModelEvent[]): void {
    const toolName = providerToolName(fields)
    if (toolName !== undefined && typeof fields.id === 'string') out.push({ type: 'provider-tool', callId: fields.id, toolName, outcome: providerToolOutcome(fields) })
  }

  function cite (annotation: Fields, out: ModelEvent[]): void {
    const source = sourceOf(annotation)
    if (source !== undefined) out.push({ type: 'source', ...source })
  }
}

function listOf (value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

function recordOf (value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Fields : {}
}
