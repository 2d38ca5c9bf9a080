import type { Agent } from '../agents/agent.ts'
import type { Principal } from '../auth/principal.ts'
import { invalidRequest } from '../errors.ts'
import { attachedId, type AttachedFile, type Attachment } from '../messages/attachment.ts'
import type { MessagePart } from '../messages/parts.ts'
import { delay } from '../streams/abort.ts'
import { describeAttachment } from './describe-attachment.ts'
import { contentPath, textKey, type StoredFile } from './file.ts'
import type { FileStorage } from './file-storage.ts'
import type { FileStore } from './file-store.ts'

export interface ResolvedParts {
  readonly parts: readonly MessagePart[]
  /** Files that are not this thread's, by the ids they were referred to by. */
  readonly dropped: readonly string[]
}

export interface AttachmentQuery {
  readonly principal: Principal
  readonly threadId: string
  readonly agent: Agent
  /** The context of a run, in order. */
  readonly messages: ReadonlyArray<{ readonly role: 'user' | 'assistant', readonly parts: readonly MessagePart[] }>
}

/** Files in a chat. */
export interface Attachments {
  /**
   * The parts of a new message with its files as they are stored: by id, named and typed by us. Waits a moment for files
   * that are still being read. Throws invalid_request for a URL that is none of ours: it is never fetched.
   */
  resolve: (principal: Principal, threadId: string, parts: readonly MessagePart[], baseUrl: string | undefined) => Promise<ResolvedParts>
  /** What the model is given of each file, by file id, in the order of the messages. Does not throw: what cannot be had is said to be missing. */
  contextFor: (query: AttachmentQuery) => Promise<ReadonlyMap<string, Attachment>>
}

export interface AttachmentsOptions {
  readonly store: Pick<FileStore, 'findMany'>
  readonly storage: Pick<FileStorage, 'read' | 'size'>
  readonly inlineTextChars: number
  readonly log: { warn: (fields: object, message: string) => void }
}

const maxImageBytes = 5_242_880
const patienceMs = 5_000
const lookMs = 50

export function createAttachments ({ store, storage, inlineTextChars, log }: AttachmentsOptions): Attachments {
  return {
    async resolve (principal, threadId, parts, baseUrl) {
      const references = parts.map((part, index) => part.type === 'file' ? referenceOf(part, index, { threadId, baseUrl }) : undefined)
      const wanted = references.flatMap((reference) => reference?.fileId ?? [])
      if (wanted.length === 0 && references.every((reference) => reference === undefined)) return { parts, dropped: [] }
      const files = await settled(principal, threadId, wanted)
      const dropped: string[] = []
      const kept = parts.flatMap((part, index): MessagePart[] => {
        const reference = references[index]
        if (reference === undefined) return [part]
        const file = files.get(reference.fileId ?? '')
        if (file === undefined) dropped.push(reference.shown)
        return file === undefined ? [] : [partOf(file)]
      })
      if (kept.every((part) => part.type === 'text' && part.text.trim() === '')) {
        throw invalidRequest('parts: the message has no text, and none of its files is of this thread.', [{ path: 'parts', message: 'expected text or a file of this thread' }])
      }
      return { parts: kept, dropped }
    },

    async contextFor ({ principal, threadId, agent, messages }) {
      const newest = messages.findLastIndex(({ role }) => role === 'user')
      const idsIn = (list: AttachmentQuery['messages']) => list.flatMap(({ role, parts }) => role === 'user' ? parts.flatMap((part) => part.type === 'file' ? attachedId(part) ?? [] : []) : [])
      const ids = [...new Set(idsIn(messages))]
      const shown = new Set(agent.vision ? idsIn(messages.slice(newest, newest + 1)) : [])
      if (ids.length === 0) return new Map()
      try {
        const files = new Map((await store.findMany(principal, threadId, ids)).map((file) => [file.id, file]))
        return new Map(await Promise.all(ids.flatMap((id) => files.get(id) ?? []).map(async (file) => [file.id, await attachmentOf(file, agent, shown.has(file.id))] as const)))
      } catch (error) {
        log.warn({ err: error, threadId }, 'attachments are not available')
        return new Map()
      }
    }
  }

  /** The files by id, once they have been read or patience is over. */
  async function settled (principal: Principal, threadId: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredFile>> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const files = await store.findMany(principal, threadId, ids)
      const waiting = files.some(({ status }) => status === 'pending' || status === 'processing')
      if (!waiting || Date.now() > deadline) return new Map(files.map((file) => [file.id, file]))
      await delay(lookMs)
    }
  }

  async function attachmentOf (stored: StoredFile, agent: Agent, show: boolean): Promise<Attachment> {
    const { id, name, mediaType, size, status, kind } = stored
    const image = show && status === 'completed' && kind === 'image' ? await readImage(stored) : undefined
    const text = status === 'completed' && kind !== 'image' ? await readText(stored) : undefined
    const file = { id, name, mediaType, size, status, text }
    const described = describeAttachment(stored, { text, isShown: image !== undefined })
    return { file, text: await formatted(file, agent, described), ...(image === undefined ? {} : { image }) }
  }

  async function formatted (file: AttachedFile, { formatAttachment }: Agent, described: string): Promise<string> {
    if (formatAttachment === undefined) return described
    try {
      return await formatAttachment(file, described)
    } catch (error) {
      log.warn({ err: error, fileId: file.id }, "the agent's formatAttachment failed")
      return described
    }
  }

  async function readImage ({ storageKey, mediaType }: StoredFile): Promise<Attachment['image']> {
    if ((await storage.size(storageKey) ?? Infinity) > maxImageBytes) return undefined
    const bytes = await storage.read(storageKey)
    return bytes === undefined ? undefined : { mediaType, base64: bytes.toString('base64') }
  }

  async function readText ({ storageKey }: StoredFile): Promise<string | undefined> {
    if (inlineTextChars === 0) return undefined
    // A character has at most four bytes; one that is cut in two is left out.
    const bytes = await storage.read(textKey(storageKey), inlineTextChars * 4)
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes, { stream: true }).slice(0, inlineTextChars).replace(/[\ud800-\udbff]$/, '')
  }
}

type FilePart = MessagePart & { type: 'file' }

/** What a file part refers to: no id for a file of another thread. */
function referenceOf (part: FilePart, index: number, { threadId, baseUrl }: { threadId: string, baseUrl: string | undefined }): { fileId: string | undefined, shown: string } {
  const id = attachedId(part)
  if (id !== undefined) return { fileId: id, shown: id }
  const path = baseUrl !== undefined && part.url.startsWith(`${baseUrl}/`) ? part.url.slice(baseUrl.length) : part.url
  const [, thread, file] = /^\/v1\/threads\/([^/?#]+)\/files\/([^/?#]+)\/content$/.exec(path) ?? []
  if (thread === undefined || file === undefined) throw foreignUrl(index, part.url)
  return { fileId: thread === threadId ? file : undefined, shown: file }
}

function foreignUrl (index: number, url: string) {
  const hint = 'upload the file to POST /v1/threads/:threadId/files and send the url it gets'
  const message = url.startsWith('data:') ? `files are not taken inside a message: ${hint}` : `this is no file of this service, and addresses are not fetched: ${hint}`
  return invalidRequest(`parts.${index}.url: ${message}`, [{ path: `parts.${index}.url`, message }])
}

/** By what we know, so that the same file is the same part whatever a client calls it. */
function partOf ({ id, threadId, name, mediaType }: StoredFile): MessagePart {
  return { type: 'file', url: contentPath(threadId, id), mediaType, filename: name, providerMetadata: { parley: { fileId: id } } }
}
