import type { ModelImage } from '../models/model.ts'

/** A file of a message, as hooks of an agent are shown it. */
export interface AttachedFile {
  readonly id: string
  readonly name: string
  readonly mediaType: string
  readonly size: number
  readonly status: string
  /** The beginning of its text, where it has one. */
  readonly text: string | undefined
}

/** What a model is given of a file part. */
export interface Attachment {
  readonly file: AttachedFile
  readonly text: string
  /** Shown with the newest message only. */
  readonly image?: ModelImage
}

/** The upload a file part refers to. */
export function attachedId (part: { readonly providerMetadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined }): string | undefined {
  const id = part.providerMetadata?.['parley']?.['fileId']
  return typeof id === 'string' ? id : undefined
}
