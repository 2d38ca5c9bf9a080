import multipart, { type MultipartFile } from '@fastify/multipart'
import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { AppError, invalidRequest } from '../src/errors.ts'
import type { Config } from '../src/config.ts'
import type { UploadPart } from '../src/files/receive-file.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The files of a multipart request while they arrive; each must be read to its end before the next comes. */
    uploadParts: () => AsyncGenerator<UploadPart, void>
    /** Under which clients reach the service: PUBLIC_URL, or what the request says, by the proxies' word where they are trusted. */
    baseUrl: () => string
  }
}

export interface UploadsOptions { readonly config: Pick<Config, 'maxUploadBytes' | 'maxUploadFiles' | 'publicUrl'> }

// A sender that says nothing for so long is gone.
const idleMs = 60_000
const boundaries = 1_048_576

export default fp<UploadsOptions>(async (app, { config: { maxUploadBytes, maxUploadFiles, publicUrl } }) => {
  // The parser knows one limit more than the plugin's types do.
  const limits = { fileSize: maxUploadBytes, files: maxUploadFiles, fields: 20, fieldSize: 10_000, fieldNameSize: 200, headerPairs: 50, headerSize: 16_384, parts: maxUploadFiles + 20 }
  await app.register(multipart, { throwFileSizeLimit: false, limits })
  // No request can need more: what is longer is not read to its end.
  const most = (maxUploadBytes * maxUploadFiles) + boundaries

  app.decorateRequest('uploadParts', async function * uploadParts (this: FastifyRequest) {
    if (!this.isMultipart()) throw invalidRequest('body: expected content-type multipart/form-data', [{ path: 'body', message: 'expected content-type multipart/form-data' }])
    const { raw } = this
    if (Number(raw.headers['content-length'] ?? 0) > most) throw tooLarge('The upload is larger than all its files may be together.')
    let received = 0
    let current: MultipartFile['file'] | undefined
    const count = (chunk: Buffer) => {
      received += chunk.length
      if (received > most) current?.destroy(tooLarge('The upload is larger than all its files may be together.'))
      // It goes on after it was told.
      if (received > most * 2) raw.destroy()
    }
    raw.on('data', count)
    raw.setTimeout(idleMs, () => { raw.destroy() })
    try {
      for await (const part of this.files()) {
        current = part.file
        yield toUploadPart(part)
      }
    } catch (error) {
      throw translate(error)
    } finally {
      // What is left is read and forgotten, so that the connection can be used again.
      raw.unpipe()
      raw.resume()
      raw.setTimeout(0)
    }
  })

  app.decorateRequest('baseUrl', function baseUrl (this: FastifyRequest) { return publicUrl ?? `${this.protocol}://${this.host}` })
}, { name: 'uploads' })

function toUploadPart ({ filename, mimetype, file }: MultipartFile): UploadPart {
  return { name: filename, declaredType: mimetype, content: contentOf(file), truncated: () => file.truncated }
}

async function * contentOf (file: MultipartFile['file']): AsyncGenerator<Buffer, void> {
  try {
    yield * file
  } catch (error) {
    throw translate(error)
  }
}

function tooLarge (message: string, cause?: unknown): AppError {
  return new AppError('payload_too_large', message, { cause, details: { reason: 'size' } })
}

/** What the multipart parser throws, in our words. */
function translate (error: unknown): unknown {
  const { code, statusCode } = error as { code?: string, statusCode?: number }
  if (error instanceof AppError) return error
  if (code === 'FST_FILES_LIMIT') return new AppError('payload_too_large', 'Too many files in one upload.', { cause: error, details: { reason: 'count' } })
  if (statusCode === 413) return tooLarge('The upload has too many parts.', error)
  if (code === undefined || statusCode !== undefined || code.startsWith('ERR_STREAM') || code === 'ECONNRESET') {
    return new AppError('invalid_request', 'body: the multipart upload is not complete or not valid.', { cause: error, details: { issues: [{ path: 'body', message: 'expected a complete multipart/form-data body' }] } })
  }
  return error
}
