import { fileTypeFromBuffer } from 'file-type'
import type { AcceptedType } from './accepted-types.ts'
import { extensionsOf } from './accepted-types.ts'
import { extensionOf } from './file-name.ts'
import { looksBinary } from './text-encoding.ts'

/** The first bytes of a file that are needed to recognise it. */
export const headBytes = 4_100

export interface Unrecognised {
  readonly name: string
  /** As its sender declared it. */
  readonly declaredType: string
  readonly head: Uint8Array
}

export type Recognition =
  | { readonly ok: true, readonly type: AcceptedType }
  | { readonly ok: false, readonly reason: 'type' | 'binary', readonly message: string }

/**
 * What a file is: an image by its first bytes, whatever it is called; text by its extension, or without one by what it
 * was declared as.
 */
export async function recognise ({ name, declaredType, head }: Unrecognised, allowed: readonly AcceptedType[]): Promise<Recognition> {
  const extension = extensionOf(name)
  const text = !looksBinary(head)
  // Text first: a text that begins with "BM" is no bitmap.
  const found = text && !startsAsPdf(head) ? undefined : await fileTypeFromBuffer(head)
  if (found === undefined) return text ? asText(extension, declaredType, allowed) : refused('binary', extension, allowed)
  const type = allowed.find(({ kind, mediaType }) => kind === 'image' && mediaType === imageType(found.mime))
  return type === undefined ? refused('type', found.ext, allowed) : { ok: true, type }
}

function asText (extension: string, declaredType: string, allowed: readonly AcceptedType[]): Recognition {
  const declared = declaredType.split(';')[0]?.trim().toLowerCase() ?? ''
  const type = allowed.filter(({ kind }) => kind !== 'image').find(({ extensions, mediaType, declaredAs }) =>
    extension === '' ? mediaType === declared || declaredAs.includes(declared) : extensions.includes(extension))
  return type === undefined ? refused('type', extension, allowed) : { ok: true, type }
}

function startsAsPdf (head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 5)).toString('latin1') === '%PDF-'
}

/** An animated PNG is one too. */
function imageType (mime: string): string {
  return mime === 'image/apng' ? 'image/png' : mime
}

function refused (reason: 'type' | 'binary', what: string, allowed: readonly AcceptedType[]): Recognition {
  const accepted = `Accepted are ${extensionsOf(allowed).join(', ')}.`
  if (reason === 'binary') return { ok: false, reason, message: `The file is not what its name says: its content is neither text nor an image. ${accepted}` }
  return { ok: false, reason, message: what === '' ? `The file has no type that is accepted. ${accepted}` : `Files of type ${what} are not accepted. ${accepted}` }
}
