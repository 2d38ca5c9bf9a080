import { z } from 'zod'
import type { MessagePart } from '../../messages/parts.ts'
import { decodeText, decodeUserParts, type Decoded, type Path } from '../ai-sdk/decode-message.ts'

const hint = 'files are not taken inside a message: upload the file to POST /v1/threads/:threadId/files and send the url it gets'
const urlSource = z.object({ type: z.literal('url', hint), value: z.string(), mimeType: z.string().min(1).optional() }, hint)

const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: urlSource }),
  // What clients before 1.0 also send.
  z.object({ type: z.literal('binary'), mimeType: z.string().min(1), url: z.string(hint), filename: z.string().optional() })
], 'expected a part of type text, image, audio, video or document')

/** The content of a user's message: text, or parts of text and of files that were uploaded to the thread. */
export function decodeContent (content: unknown, path: Path): Decoded<readonly MessagePart[]> {
  if (typeof content === 'string') return decodeText(content, path)
  if (!Array.isArray(content)) return { ok: false, issues: [{ path: path.join('.'), message: 'expected text or parts' }] }
  const parsed = z.array(partSchema).safeParse(content)
  if (!parsed.success) return { ok: false, issues: parsed.error.issues.map((issue) => ({ path: [...path, ...issue.path.map(String)].join('.'), message: issue.message })) }
  return decodeUserParts(parsed.data.map(toPart), path)
}

function toPart (part: z.output<typeof partSchema>): MessagePart {
  switch (part.type) {
    case 'text': return part
    case 'binary': return { type: 'file', url: part.url, mediaType: part.mimeType, ...(part.filename === undefined ? {} : { filename: part.filename }) }
    case 'image': case 'audio': case 'video': case 'document':
      return { type: 'file', url: part.source.value, mediaType: part.source.mimeType ?? 'application/octet-stream' }
    default: return part satisfies never
  }
}
