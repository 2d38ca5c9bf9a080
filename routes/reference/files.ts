import { z } from 'zod'
import type { Answer } from '../../plugins/openapi.ts'
import { fileStatuses } from '../../src/files/file.ts'
import { describe, json, nothing } from './describe.ts'
import { fileExample } from './examples.ts'
import { errorShape, fileShape, named, pageShape } from './shapes.ts'

const refusedShape = named('RefusedFile', z.object({ name: z.string(), status: z.literal('refused'), error: errorShape, existingId: z.string().optional() }))
const settingsShape = z.object({ maxBytes: z.number().int(), maxFiles: z.number().int(), extensions: z.array(z.string()), mediaTypes: z.array(z.string()) })
const refusedExample = { name: 'page.exe', status: 'refused', error: { code: 'file_unsupported', message: 'page.exe: this type of file is not accepted.', retryable: false, ref: '5f2c9a1e', details: { reason: 'type' } } }

const bytes: Answer = {
  description: 'The bytes, as they were sent; images may be shown, everything else is to be saved',
  content: { 'application/octet-stream': { schema: z.file(), example: 'city,visitors\nBern,120\n' } },
  headers: { 'content-disposition': 'Whether it may be shown, and its name' }
}

export const fileReference = {
  upload: describe({
    id: 'uploadFiles', tag: 'Files', summary: 'Upload files to a thread',
    description: 'One part `file` for each. They are read afterwards; `status` tells how that goes. A single file that is refused is an error with a status of its own.',
    body: { schema: z.object({ file: z.array(z.file()) }), example: { file: ['city,visitors\nBern,120\n'] }, contentType: 'multipart/form-data' },
    answers: { 202: json('What became of each file', z.object({ items: z.array(z.union([fileShape, refusedShape])) }), { items: [{ ...fileExample, status: 'pending', facts: {} }, refusedExample] }) },
    errors: ['not_found', 'conflict', 'payload_too_large', 'file_unsupported']
  }),
  list: describe({
    id: 'listFiles', tag: 'Files', summary: 'List the files of a thread',
    answers: { 200: json('A page of files', pageShape(fileShape), { items: [fileExample], nextCursor: null }) },
    errors: ['not_found']
  }),
  get: describe({
    id: 'getFile', tag: 'Files', summary: 'Read what is known of a file',
    description: `\`status\` is one of ${fileStatuses.join(', ')}.`,
    answers: { 200: json('The file', fileShape, fileExample) },
    errors: ['not_found']
  }),
  content: describe({
    id: 'getFileContent', tag: 'Files', summary: 'Read the bytes of a file',
    answers: { 200: bytes },
    errors: ['not_found', 'conflict']
  }),
  remove: describe({
    id: 'removeFile', tag: 'Files', summary: 'Remove a file',
    answers: { 204: nothing('It is gone') },
    errors: ['not_found']
  }),
  retry: describe({
    id: 'retryFile', tag: 'Files', summary: 'Read a file again that failed or was cancelled',
    answers: { 202: json('The file', fileShape, { ...fileExample, status: 'pending', facts: {} }) },
    errors: ['not_found', 'conflict']
  }),
  cancel: describe({
    id: 'cancelFile', tag: 'Files', summary: 'Stop reading a file',
    answers: { 200: json('The file', fileShape, { ...fileExample, status: 'cancelled', facts: {} }) },
    errors: ['not_found', 'conflict']
  }),
  settings: describe({
    id: 'getUploadSettings', tag: 'Files', summary: 'Read what may be uploaded',
    answers: { 200: json('The limits that are enforced', settingsShape, { maxBytes: 10_485_760, maxFiles: 10, extensions: ['.csv', '.txt'], mediaTypes: ['text/csv', 'text/plain'] }) }
  })
}
