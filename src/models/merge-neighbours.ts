import type { Model, ModelMessage } from './model.ts'

/** The same model behind a provider that refuses two neighbouring messages of one role: it is told them as one. */
export function withMergedNeighbours (model: Model): Model {
  return { ...model, generate: (request, options) => model.generate({ ...request, messages: mergeNeighbours(request.messages) }, options) }
}

/**
 * Messages with no two neighbours of one role, but for results of tools, each of which answers a call of its own. Nothing is
 * moved over a call: what was said right before a turn with calls is said with it, what comes behind its results is another
 * turn.
 */
export function mergeNeighbours (messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const merged: ModelMessage[] = []
  for (const message of messages) {
    // No provider is sent such a turn, so that it keeps nobody apart.
    if (message.role === 'assistant' && message.text === '' && message.toolCalls.length === 0) continue
    const before = merged.at(-1)
    const both = before === undefined ? undefined : asOne(before, message)
    if (both === undefined) merged.push(message)
    else merged[merged.length - 1] = both
  }
  return merged
}

function asOne (before: ModelMessage, message: ModelMessage): ModelMessage | undefined {
  if (before.role === 'user' && message.role === 'user') {
    const images = [...before.images ?? [], ...message.images ?? []]
    return { role: 'user', content: joined(before.content, message.content), ...(images.length === 0 ? {} : { images }) }
  }
  if (before.role === 'assistant' && message.role === 'assistant' && before.toolCalls.length === 0) {
    const reasoning = [...before.reasoning ?? [], ...message.reasoning ?? []]
    return { role: 'assistant', text: joined(before.text, message.text), ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls: message.toolCalls }
  }
  return undefined
}

function joined (...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
