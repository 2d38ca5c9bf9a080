import { z } from 'zod'
import { describe, json, nothing } from './describe.ts'
import { answerExample, answerId, questionExample } from './examples.ts'
import { messageShape, pageShape } from './shapes.ts'

const rating = z.object({ messageId: z.string(), rating: z.union([z.literal(1), z.literal(-1)]), comment: z.string().nullable() })

export const messageReference = {
  history: describe({
    id: 'listMessages', tag: 'Messages', summary: 'Read the newest page of a conversation, in ascending order',
    description: '`before` leads to older messages. A message that is being written is there with `include=streaming` only.',
    answers: { 200: json('A page of messages', pageShape(messageShape), { items: [questionExample, answerExample], nextCursor: null }) },
    errors: ['not_found']
  }),
  siblings: describe({
    id: 'listSiblings', tag: 'Messages', summary: 'Read the branches at a message',
    answers: { 200: json('A page of messages, this one among them', pageShape(messageShape), { items: [answerExample], nextCursor: null }) },
    errors: ['not_found']
  }),
  remove: describe({
    id: 'removeMessage', tag: 'Messages', summary: 'Hide a message from history and from the model',
    answers: { 204: nothing('It is hidden') },
    errors: ['not_found', 'thread_busy']
  }),
  restore: describe({
    id: 'restoreMessage', tag: 'Messages', summary: 'Bring a hidden message back',
    answers: { 200: json('The message', messageShape, answerExample) },
    errors: ['not_found']
  }),
  rate: describe({
    id: 'rateMessage', tag: 'Messages', summary: 'Rate an answer; the last rating of a user counts',
    body: { example: { rating: 1, comment: 'Short and right.' } },
    answers: { 200: json('The rating', rating, { messageId: answerId, rating: 1, comment: 'Short and right.' }) },
    errors: ['not_found', 'payload_too_large']
  }),
  unrate: describe({
    id: 'unrateMessage', tag: 'Messages', summary: 'Withdraw a rating',
    answers: { 204: nothing('There is none any more') },
    errors: ['not_found']
  })
}
