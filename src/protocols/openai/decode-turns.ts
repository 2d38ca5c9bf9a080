import type { ErrorIssue } from '../../errors.ts'
import type { ModelMessage, ModelToolCall } from '../../models/model.ts'
import type { CompletionMessage } from './completion-request.ts'

export interface DecodedTurns {
  readonly turns: readonly ModelMessage[]
  /** The text of all system and developer messages. */
  readonly instructions: string
  readonly issues: readonly ErrorIssue[]
}

/** A conversation as its caller tells it, as a model is given it: every call with its result, a question at the end. */
export function decodeTurns (messages: readonly CompletionMessage[]): DecodedTurns {
  const turns: ModelMessage[] = []
  const instructions: string[] = []
  const issues: ErrorIssue[] = []
  // Calls without a result yet, by id.
  let open = new Map<string, string>()

  for (const [index, message] of messages.entries()) decode(message, `messages.${index}`)
  if (open.size > 0) missing(`messages.${messages.length - 1}`)
  const last = turns.at(-1)
  if (issues.length === 0 && last?.role !== 'user' && last?.role !== 'tool') fault('messages', 'expected a user message, or the result of a tool call, at the end')
  return { turns, instructions: instructions.join('\n\n'), issues }

  function decode (message: CompletionMessage, path: string): void {
    if (message.role === 'tool') return result(message, path)
    if (open.size > 0) missing(path)
    const text = textOf(message.content ?? '', `${path}.content`)
    if (message.role === 'user') {
      if (text.trim() === '') fault(`${path}.content`, 'the message is empty: it needs text')
      turns.push({ role: 'user', content: text })
    } else if (message.role === 'assistant') {
      const toolCalls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }): ModelToolCall => ({ callId: id, toolName: name, arguments: objectText(text) }))
      open = new Map(toolCalls.map(({ callId, toolName }) => [callId, toolName]))
      if (text !== '' || toolCalls.length > 0) turns.push({ role: 'assistant', text, toolCalls })
    } else if (text.trim() !== '') {
      instructions.push(text)
    }
  }

  function result ({ tool_call_id: callId, content }: CompletionMessage & { role: 'tool' }, path: string): void {
    const toolName = open.get(callId)
    if (toolName === undefined) return fault(`${path}.tool_call_id`, 'expected the id of a tool call of the message before')
    open.delete(callId)
    turns.push({ role: 'tool', callId, toolName, content: textOf(content, `${path}.content`) })
  }

  function missing (path: string): void {
    fault(path, `expected a result of the tool call "${[...open.keys()][0]?.slice(0, 64)}"`)
    open.clear()
  }

  function textOf (content: NonNullable<CompletionMessage['content']>, path: string): string {
    if (typeof content === 'string') return content
    return content.map(({ type, text, refusal }, index) => {
      const said = type === 'refusal' ? refusal : text
      if ((type === 'text' || type === 'refusal') && typeof said === 'string') return said
      fault(`${path}.${index}`, `"${type.slice(0, 64)}" parts are not supported: only text`)
      return ''
    }).join('\n\n')
  }

  function fault (path: string, message: string): void {
    issues.push({ path, message })
  }
}

/** Arguments are one JSON object; a model that wrote something else is shown what it wrote. */
function objectText (text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text
  } catch {
    // Wrapped below.
  }
  return text.trim() === '' ? '{}' : JSON.stringify({ unreadable: text })
}
