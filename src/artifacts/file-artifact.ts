import { z } from 'zod'
import { contentPath } from '../files/file.ts'
import { defineArtifact } from './artifact.ts'

// A model may have made it up: nothing that a browser would run.
const address = z.string().refine(isHarmless, 'expected an http or https URL, or a path of this service')

const fileSchema = z.object({
  /** Of an upload of the thread. */
  fileId: z.string().regex(/^[\w-]+$/).optional(),
  name: z.string().min(1),
  mediaType: z.string().optional(),
  size: z.number().int().nonnegative().optional(),
  url: address.optional()
}).refine(({ fileId, url }) => fileId !== undefined || url !== undefined, 'expected a fileId or a url')

export type ArtifactFile = z.output<typeof fileSchema>

/** Files for the user: uploads of the thread, or files elsewhere. Readers of the list get their whole addresses. */
export const fileArtifact = defineArtifact({
  name: 'file',
  description: 'Gives the user files: uploads of this conversation by their fileId, or others by their url.',
  data: z.object({ files: z.array(fileSchema).min(1) }),
  resolve: ({ files }, { threadId, baseUrl }) => ({ files: files.map((file) => ({ ...file, url: addressOf(file, threadId, baseUrl) })) })
})

/** A file of the thread that a run is in, with the path that a browser finds it by, as `fileArtifact` takes it. */
export function threadFile ({ threadId }: { readonly threadId: string | undefined }, { fileId, name, mediaType, size }: Omit<ArtifactFile, 'url' | 'fileId'> & { readonly fileId: string }): ArtifactFile {
  const url = threadId === undefined ? undefined : contentPath(threadId, fileId)
  return { fileId, name, ...(mediaType === undefined ? {} : { mediaType }), ...(size === undefined ? {} : { size }), ...(url === undefined ? {} : { url }) }
}

function addressOf ({ fileId, url = '' }: ArtifactFile, threadId: string, baseUrl: string): string {
  if (fileId !== undefined) return `${baseUrl}${contentPath(threadId, fileId)}`
  return url.startsWith('/') ? `${baseUrl}${url}` : url
}

function isHarmless (url: string): boolean {
  if (/^\/(?![/\\])/.test(url)) return true
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
