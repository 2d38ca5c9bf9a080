import { contentDisposition } from '../../src/files/file-name.ts'
import { fileView, uploadResultView } from '../../src/files/file-view.ts'
import { pageView } from '../../src/threads/thread-view.ts'
import { fileReference } from '../reference/files.ts'
import { fileParams, pageQuery, threadParams } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const files: RoutePlugin = async (app) => {
  app.post('/threads/:threadId/files', { schema: { ...fileReference.upload, params: threadParams } }, async (request, reply) => {
    const results = await app.files.upload(request.principal, request.params.threadId, request.uploadParts())
    return reply.code(202).send({ items: results.map((result) => uploadResultView(result, request.baseUrl())) })
  })

  app.get('/threads/:threadId/files', { schema: { ...fileReference.list, params: threadParams, querystring: pageQuery } }, async (request) =>
    pageView(await app.files.list(request.principal, request.params.threadId, request.query), (file) => fileView(file, request.baseUrl())))

  app.get('/threads/:threadId/files/:fileId', { schema: { ...fileReference.get, params: fileParams } }, async (request) =>
    fileView(await app.files.get(request.principal, request.params.threadId, request.params.fileId), request.baseUrl()))

  app.get('/threads/:threadId/files/:fileId/content', { schema: { ...fileReference.content, params: fileParams } }, async (request, reply) => {
    const { file, size, stream, inline } = await app.files.content(request.principal, request.params.threadId, request.params.fileId)
    return reply.headers({
      'content-type': inline ? file.mediaType : 'application/octet-stream',
      'content-length': String(size),
      'content-disposition': contentDisposition(inline ? 'inline' : 'attachment', file.name),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-cache'
    }).send(stream)
  })

  app.delete('/threads/:threadId/files/:fileId', { schema: { ...fileReference.remove, params: fileParams } }, async (request, reply) => {
    await app.files.remove(request.principal, request.params.threadId, request.params.fileId)
    return reply.code(204).send()
  })

  app.post('/threads/:threadId/files/:fileId/retry', { schema: { ...fileReference.retry, params: fileParams } }, async (request, reply) =>
    reply.code(202).send(fileView(await app.files.retry(request.principal, request.params.threadId, request.params.fileId), request.baseUrl())))

  app.post('/threads/:threadId/files/:fileId/cancel', { schema: { ...fileReference.cancel, params: fileParams } }, async (request) =>
    fileView(await app.files.cancel(request.principal, request.params.threadId, request.params.fileId), request.baseUrl()))
}

export default files
