import type { Test } from 'tap'
import { createChat, portableKeys, readChunks, validateMessages, type Chat, type ChatOptions, type ClientMessage, type ClientName } from '../helpers/ai-clients.ts'
import { getJson, until, type TestApp } from '../helpers/app.ts'

export interface LiveChat {
  readonly chat: Chat
  readonly client: ClientName
  /** What the client posted, in order. */
  readonly posts: readonly Posted[]
  /** The bytes of every stream the client was given; a stream it left is cut where it left. */
  readonly streams: () => Promise<readonly string[]>
}

export interface Posted { readonly trigger?: string, readonly messageId?: string, readonly messages: readonly ClientMessage[] }

export type LiveOptions = Partial<Omit<ChatOptions, 'id'>> & { readonly id: string, readonly fetch?: typeof fetch }

/** A chat of that client on a running server, whose streams are kept as they came. */
export async function openChat (client: ClientName, { url }: Pick<TestApp, 'url'>, { id, fetch = globalThis.fetch, ...options }: LiveOptions): Promise<LiveChat> {
  const posts: Posted[] = []
  const bodies: Array<Promise<string>> = []
  const chat = await createChat(client, { api: `${url}/api/chat`, id, ...options, fetch: keep })
  return { chat, client, posts, streams: () => Promise.all(bodies) }

  async function keep (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    if (typeof init?.body === 'string') posts.push(JSON.parse(init.body))
    const response = await fetch(input, init)
    if (response.ok && response.body !== null) bodies.push(readAll(response.clone()))
    return response
  }
}

/**
 * What must hold once a chat is at rest: the client accepts every chunk it was sent, older ones would too, and a reload
 * shows exactly what the client shows.
 */
export async function assertAgreement (t: Test, { url }: Pick<TestApp, 'url'>, { chat, client, streams }: LiveChat): Promise<void> {
  for (const body of await streams()) {
    const chunks = await readChunks(client, body.slice(0, body.lastIndexOf('\n\n') + 2))
    t.strictSame(portableKeys(chunks), [], 'every chunk is portable')
  }
  const history = await historyOf(url, chat.id)
  t.strictSame(history.map(shown), chat.messages.map(shown), 'a reload shows what the client shows')
  await t.resolves(validateMessages(client, history), 'the client accepts the history')
}

export async function historyOf (url: string, threadId: string): Promise<ClientMessage[]> {
  return (await getJson(`${url}/v1/threads/${threadId}/messages?limit=100`)).items
}

/** What a person sees of a message, and what it is found by, as JSON holds it. */
export function shown ({ id, role, parts }: ClientMessage) {
  return JSON.parse(JSON.stringify({ id, role, parts }))
}

export function textsOf (messages: readonly ClientMessage[]): string[] {
  return messages.map(({ parts }) => parts.filter((part) => part.type === 'text').map((part) => part['text']).join(''))
}

export interface Gate { readonly opened: Promise<void>, readonly open: () => void }

/** Holds a model in mid-answer until the test has seen what it waits for. */
export function createGate (): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** Waits for the end of everything the chat does by itself. */
export async function atRest ({ chat }: LiveChat, isDone: () => boolean = () => true): Promise<void> {
  await until('the chat is at rest', () => (chat.status === 'ready' || chat.status === 'error') && isDone())
}

export async function showsText ({ chat }: LiveChat, text: string): Promise<void> {
  await until(`the chat shows "${text}"`, () => textsOf(chat.messages).some((shown) => shown.includes(text)))
}

async function readAll (response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true })
  } catch {
    // The client left: what had come counts.
  }
  return text
}
