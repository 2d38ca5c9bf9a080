import { z } from 'zod'
import { describe, json, nothing } from './describe.ts'
import { agentId, threadExample, usageLineExample } from './examples.ts'
import { pageShape, threadShape, usageLineShape } from './shapes.ts'

export const threadReference = {
  create: describe({
    id: 'createThread', tag: 'Threads', summary: 'Make a thread before its first message',
    body: { example: { agentId, title: 'Opening hours on Sunday', metadata: { shop: 'north' } } },
    answers: { 201: json('The thread', threadShape, { ...threadExample, headId: null, messageCount: 0, lastMessageAt: null }) },
    errors: ['conflict', 'payload_too_large']
  }),
  list: describe({
    id: 'listThreads', tag: 'Threads', summary: 'List own threads, newest activity first',
    description: '`q` searches titles and what messages say, whatever the case.',
    answers: { 200: json('A page of threads', pageShape(threadShape), { items: [threadExample], nextCursor: null }) }
  }),
  removeAll: describe({
    id: 'removeThreads', tag: 'Threads', summary: 'Remove all own threads',
    answers: { 200: json('How many there were', z.object({ deleted: z.number().int() }), { deleted: 3 }) }
  }),
  get: describe({
    id: 'getThread', tag: 'Threads', summary: 'Read one thread',
    answers: { 200: json('The thread', threadShape, threadExample) },
    errors: ['not_found']
  }),
  update: describe({
    id: 'updateThread', tag: 'Threads', summary: 'Change the title, agent, metadata, archive state, or the branch that is shown',
    body: { example: { title: 'Sundays', archived: false } },
    answers: { 200: json('The thread as it is now', threadShape, { ...threadExample, title: 'Sundays' }) },
    errors: ['not_found', 'conflict', 'thread_busy', 'payload_too_large']
  }),
  remove: describe({
    id: 'removeThread', tag: 'Threads', summary: 'Remove a thread and all that hangs on it',
    answers: { 204: nothing('It is gone') },
    errors: ['not_found']
  }),
  usage: describe({
    id: 'getThreadUsage', tag: 'Threads', summary: 'Read what a thread has used, by agent and model',
    answers: { 200: json('Sums of model calls', z.object({ items: z.array(usageLineShape) }), { items: [usageLineExample] }) },
    errors: ['not_found']
  })
}
