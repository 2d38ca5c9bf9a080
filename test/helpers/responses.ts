import { readRecording } from './upstream.ts'

export const responseRecordings = ['azure-tool-call', 'lmstudio-basic', 'lmstudio-tool-call', 'openai-error', 'openai-phase', 'openai-reasoning']

export interface RecordedResponse {
  /** The stream as it was. */
  readonly bytes: Buffer
  /** What it holds, read from its lines without any code under test. */
  readonly text: string
  readonly reasoning: string
  readonly calls: ReadonlyArray<{ readonly id: string, readonly name: string, readonly arguments: string }>
  readonly encrypted: readonly string[]
  readonly usage: { readonly input: number, readonly output: number, readonly reasoning: number, readonly cachedRead: number, readonly cacheWrite: number } | undefined
  readonly error: string | undefined
}

/** The responses of a recording of the Responses API, in the order they were given. */
export function readResponses (name: string): RecordedResponse[] {
  const groups: string[][] = []
  for (const line of readRecording(`responses/${name}`)) {
    if (JSON.parse(line).type === 'response.created') groups.push([])
    groups.at(-1)?.push(line)
  }
  return groups.map(contents)
}

function contents (lines: readonly string[]): RecordedResponse {
  const events = lines.map((line) => JSON.parse(line))
  const deltas = (...types: string[]) => events.filter(({ type }) => types.includes(type)).map(({ delta }) => delta).join('')
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
  const usage = events.at(-1).response.usage
  return {
    bytes: responseBytes(events),
    text: deltas('response.output_text.delta'),
    reasoning: deltas('response.reasoning_summary_text.delta', 'response.reasoning_text.delta'),
    calls: done.filter(({ type }) => type === 'function_call').map((item) => ({ id: item.call_id, name: item.name, arguments: item.arguments })),
    encrypted: done.flatMap((item) => item.encrypted_content ?? []),
    usage: usage == null
      ? undefined
      : {
          input: usage.input_tokens,
          output: usage.output_tokens,
          reasoning: usage.output_tokens_details.reasoning_tokens,
          cachedRead: usage.input_tokens_details.cached_tokens,
          cacheWrite: 0
        },
    error: events.find(({ type }) => type === 'error')?.error.code
  }
}

/** Events as a server of the Responses API sends them. */
export function responseBytes (events: ReadonlyArray<Readonly<Record<string, unknown>>>): Buffer {
  return Buffer.from(events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
