import { z } from 'zod'

/** The answer to a call. Read generously: one content of an unknown kind must not cost the others. */
export const toolResultSchema = z.looseObject({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.record(z.string(), z.unknown()).optional().catch(undefined),
  isError: z.boolean().optional().catch(undefined)
})

export type ToolResult = z.output<typeof toolResultSchema>

const longestUri = 500
const resourceSchema = z.object({ uri: z.string(), mimeType: z.string().optional(), text: z.string().optional(), blob: z.string().optional() })
const contentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string(), mimeType: z.string().optional() }),
  z.object({ type: z.literal('resource'), resource: resourceSchema })
])

/** What a result is to the model: its structured content where there is some, else its text, with a marker for what is no text. */
export function outputOf ({ content, structuredContent }: ToolResult): unknown {
  return structuredContent ?? textOf(content)
}

export function textOf (content: readonly unknown[]): string {
  return content.map((item) => {
    const { data } = contentSchema.safeParse(item)
    return data === undefined ? '[content of an unknown kind]' : shown(data)
  }).join('\n')
}

function shown (content: z.output<typeof contentSchema>): string {
  switch (content.type) {
    case 'text': return content.text
    case 'image': case 'audio': return `[${content.type} ${content.mimeType}, ${bytesIn(content.data)} bytes]`
    case 'resource_link': return `[resource ${content.name}${content.mimeType === undefined ? '' : ` ${content.mimeType}`}: ${short(content.uri)}]`
    case 'resource': return shownResource(content.resource)
    default: return content satisfies never
  }
}

function shownResource ({ uri, mimeType, text, blob }: z.output<typeof resourceSchema>): string {
  const size = blob === undefined ? '' : `, ${bytesIn(blob)} bytes`
  const marker = `[resource${mimeType === undefined ? '' : ` ${mimeType}`}${size}: ${short(uri)}]`
  return text === undefined ? marker : `${marker}\n${text}`
}

/** A `data:` URI is as long as what it holds. */
function short (uri: string): string {
  return uri.length <= longestUri ? uri : `${uri.slice(0, longestUri)}...`
}

/** Of what a base64 text stands for. */
function bytesIn (base64: string): number {
  return Math.floor(base64.replace(/=+$/, '').length * 3 / 4)
}
