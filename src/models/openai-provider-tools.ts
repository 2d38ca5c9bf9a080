import type { ModelEvent, ProviderToolOutcome } from './model.ts'

type Fields = Readonly<Record<string, unknown>>
type Source = Omit<Extract<ModelEvent, { type: 'source' }>, 'type'>

// Calls that wait for an answer of ours. None of them is offered, so none of them can be answered.
const oursToRun: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'tool_search_call'])

/** What a provider runs by itself is an item named `<tool>_call`; the tool of a remote server has a name of its own. */
export function providerToolName ({ type, name }: Fields): string | undefined {
  if (typeof type !== 'string' || !type.endsWith('_call') || oursToRun.has(type)) return undefined
  if (type === 'mcp_call' && typeof name === 'string' && name !== '') return name
  return type.slice(0, -'_call'.length)
}

const inputFields = ['action', 'queries', 'code', 'container_id', 'server_label'] as const
// Bytes of an image, megabytes of them, have no place in a conversation.
const leftOut: ReadonlySet<string> = new Set(['id', 'type', 'name', 'arguments', 'result', ...inputFields])

/** The item's own fields, told apart: what the tool was asked, and what came of it. */
export function providerToolOutcome (item: Fields): ProviderToolOutcome {
  const asked = Object.fromEntries(inputFields.filter((name) => item[name] !== undefined && item[name] !== null).map((name) => [name, item[name]]))
  const output = Object.fromEntries(Object.entries(item).filter(([name, value]) => !leftOut.has(name) && value !== undefined && value !== null))
  const failed = item.status === 'failed' || item.status === 'incomplete' || (item.error !== undefined && item.error !== null)
  return { input: { ...asked, ...argumentsOf(item.arguments) }, output, failed }
}

/** What an annotation of a text cites; undefined for annotations that cite nothing. */
export function sourceOf ({ type, url, title, file_id: fileId, filename }: Fields): Source | undefined {
  if (type === 'url_citation' && typeof url === 'string') return { sourceId: url, url, title: typeof title === 'string' && title !== '' ? title : url }
  if ((type === 'file_citation' || type === 'container_file_citation') && typeof fileId === 'string') return { sourceId: fileId, title: typeof filename === 'string' ? filename : fileId }
  return undefined
}

function argumentsOf (text: unknown): Fields {
  if (typeof text !== 'string' || text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  } catch {
    // Kept as it was written.
  }
  return { arguments: text }
}
