/**
 * The published chat clients whose wire we speak, in three versions, behind one small type. They are loaded by name, so
 * that the compiler does not read three copies of their types.
 */
export const clientNames = ['ai5', 'ai6', 'ai7'] as const
export type ClientName = typeof clientNames[number]

export interface ClientMessage {
  readonly id: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly metadata?: unknown
  readonly parts: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[]
}

export type Chunk = { readonly type: string } & Readonly<Record<string, unknown>>

export interface Folded {
  /** What the client would show at the end, as JSON holds it; `undefined` when it would show nothing. */
  readonly message: ClientMessage | undefined
  readonly chunks: readonly Chunk[]
  /** Texts of `error` chunks, and what the reducer itself refused. */
  readonly errors: readonly string[]
}

/** A chat as useChat runs one, without React. */
export interface Chat {
  readonly id: string
  readonly messages: ClientMessage[]
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error'
  readonly error: Error | undefined
  sendMessage: (message?: { text: string, messageId?: string, metadata?: unknown } | { id?: string, role?: string, parts: readonly unknown[], messageId?: string }, options?: RequestOptions) => Promise<void>
  regenerate: (options?: { messageId?: string } & RequestOptions) => Promise<void>
  resumeStream: (options?: RequestOptions) => Promise<void>
  stop: () => Promise<void>
  clearError: () => void
  addToolOutput: (result: { tool: string, toolCallId: string, state?: 'output-available' | 'output-error', output?: unknown, errorText?: string }) => Promise<void>
  /** Not in ai 5. */
  addToolApprovalResponse?: (verdict: { id: string, approved: boolean, reason?: string }) => Promise<void>
}

export interface RequestOptions { readonly headers?: Record<string, string>, readonly body?: object, readonly metadata?: unknown }

export interface ChatOptions {
  readonly api: string
  readonly id?: string
  readonly messages?: readonly ClientMessage[]
  readonly fetch?: typeof globalThis.fetch
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly prepareSendMessagesRequest?: (request: { id: string, messages: readonly ClientMessage[], trigger: string, messageId?: string }) => { body: object }
  readonly sendAutomatically?: 'when-tools-are-answered' | 'when-approvals-are-answered'
  readonly onData?: (part: Chunk) => void
  readonly onToolCall?: (call: { toolCall: { toolCallId: string, toolName: string, input: unknown } }) => void
  readonly onError?: (error: Error) => void
  readonly onFinish?: (end: { message: ClientMessage, isAbort?: boolean, isDisconnect?: boolean, isError?: boolean, finishReason?: string }) => void
}

interface ClientPackage {
  readonly AbstractChat: new (options: object) => Chat
  readonly DefaultChatTransport: new (options: object) => object
  readonly lastAssistantMessageIsCompleteWithToolCalls: (input: { messages: readonly ClientMessage[] }) => boolean
  /** Not in ai 5. */
  readonly lastAssistantMessageIsCompleteWithApprovalResponses?: (input: { messages: readonly ClientMessage[] }) => boolean
  readonly uiMessageChunkSchema: unknown
  readonly parseJsonEventStream: (input: { stream: ReadableStream<Uint8Array>, schema: unknown }) => ReadableStream<{ success: true, value: Chunk } | { success: false, error: Error }>
  readonly readUIMessageStream: (input: { stream: ReadableStream<Chunk>, message?: ClientMessage, onError: (error: unknown) => void }) => AsyncIterable<ClientMessage>
  readonly validateUIMessages: (input: { messages: unknown }) => Promise<ClientMessage[]>
}

/** The chunks of a reply, each checked with that version's own schema; throws at the first one it would refuse. */
export async function readChunks (client: ClientName, bytes: string | readonly string[]): Promise<readonly Chunk[]> {
  const { parseJsonEventStream, uiMessageChunkSchema } = await load(client)
  const chunks: Chunk[] = []
  for await (const result of parseJsonEventStream({ stream: byteStream(bytes), schema: uiMessageChunkSchema })) {
    if (!result.success) throw result.error
    chunks.push(result.value)
  }
  return chunks
}

/** Reads the bytes of a reply as a client does: every chunk checked with its own schema, then folded by its own reducer. */
export async function foldStream (client: ClientName, bytes: string | readonly string[], { message }: { message?: ClientMessage } = {}): Promise<Folded> {
  const { readUIMessageStream } = await load(client)
  const chunks = await readChunks(client, bytes)
  const errors: string[] = []
  const stream = new ReadableStream<Chunk>({
    start (controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk))
      controller.close()
    }
  })
  const onError = (error: unknown) => { errors.push(error instanceof Error ? error.message : String(error)) }
  let last: ClientMessage | undefined
  for await (const snapshot of readUIMessageStream({ stream, onError, ...(message === undefined ? {} : { message: structuredClone(message) }) })) last = snapshot
  return { message: last === undefined ? undefined : JSON.parse(JSON.stringify(last)), chunks, errors }
}

/** A chat of that version over real requests to `api`, its messages in memory. */
export async function createChat (client: ClientName, options: ChatOptions): Promise<Chat> {
  const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls, lastAssistantMessageIsCompleteWithApprovalResponses } = await load(client)
  const { api, id, messages = [], sendAutomatically, fetch, headers, body, prepareSendMessagesRequest, onData, onToolCall, onError, onFinish } = options
  const transport = new DefaultChatTransport(present({ api, fetch, headers, body, prepareSendMessagesRequest }))
  const conditions = { 'when-tools-are-answered': lastAssistantMessageIsCompleteWithToolCalls, 'when-approvals-are-answered': lastAssistantMessageIsCompleteWithApprovalResponses }
  const sendAutomaticallyWhen = sendAutomatically === undefined ? undefined : conditions[sendAutomatically]
  return new AbstractChat(present({ id, transport, state: createState(messages), sendAutomaticallyWhen, onData, onToolCall, onError, onFinish }))
}

/** Checks messages as that version checks stored ones; throws when it would refuse them. */
export async function validateMessages (client: ClientName, messages: unknown): Promise<void> {
  await (await load(client)).validateUIMessages({ messages })
}

/** Keys outside the portable profile, as `type.key`; chunks of other types as `type`. */
export function portableKeys (chunks: readonly Chunk[]): string[] {
  return chunks.flatMap((chunk) => {
    const allowed = chunk.type.startsWith('data-') ? portable.get('data') : portable.get(chunk.type)
    if (allowed === undefined) return [chunk.type]
    return Object.keys(chunk).filter((key) => key !== 'type' && !allowed.includes(key)).map((key) => `${chunk.type}.${key}`)
  })
}

// ai 5.0.0 refuses everything else, but for what the profile adds: tool-input-error, finishReason, preliminary, approvals.
const portable: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  start: ['messageId', 'messageMetadata'],
  finish: ['messageMetadata', 'finishReason'],
  'start-step': [],
  'finish-step': [],
  'message-metadata': ['messageMetadata'],
  abort: [],
  error: ['errorText'],
  'text-start': ['id', 'providerMetadata'],
  'text-delta': ['id', 'delta', 'providerMetadata'],
  'text-end': ['id', 'providerMetadata'],
  'reasoning-start': ['id', 'providerMetadata'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata'],
  'reasoning-end': ['id', 'providerMetadata'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted', 'dynamic'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerExecuted', 'providerMetadata', 'dynamic'],
  'tool-input-error': ['toolCallId', 'toolName', 'input', 'errorText', 'providerExecuted', 'providerMetadata', 'dynamic'],
  'tool-approval-request': ['approvalId', 'toolCallId'],
  'tool-output-available': ['toolCallId', 'output', 'providerExecuted', 'dynamic', 'preliminary'],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted', 'dynamic'],
  'tool-output-denied': ['toolCallId'],
  'source-url': ['sourceId', 'url', 'title', 'providerMetadata'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename', 'providerMetadata'],
  file: ['url', 'mediaType', 'providerMetadata'],
  data: ['id', 'data', 'transient']
}))

async function load (client: ClientName): Promise<ClientPackage> {
  return await import(client) // an untyped import: the shape is the interface above
}

function byteStream (bytes: string | readonly string[]): ReadableStream<Uint8Array> {
  const pieces = typeof bytes === 'string' ? [bytes] : bytes
  return new ReadableStream({
    start (controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    }
  })
}

function createState (initial: readonly ClientMessage[]) {
  return {
    status: 'ready',
    error: undefined as Error | undefined,
    messages: [...initial],
    pushMessage (message: ClientMessage) { this.messages = [...this.messages, message] },
    popMessage () { this.messages = this.messages.slice(0, -1) },
    replaceMessage (index: number, message: ClientMessage) { this.messages = this.messages.with(index, structuredClone(message)) },
    snapshot<T> (thing: T): T { return structuredClone(thing) }
  }
}

function present (options: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
