import t from 'tap'
import { toUIMessage } from '../../../../src/protocols/ai-sdk/messages.ts'
import { noUsage } from '../../../../src/events/usage.ts'
import { clientNames, validateMessages } from '../../../helpers/ai-clients.ts'
import { asJson } from '../../../helpers/run-events.ts'
import type { MessageView } from '../../../../src/threads/message.ts'

const view: MessageView = {
  id: 'row-1', clientId: undefined, position: 1, role: 'user', parts: [{ type: 'text', text: 'Hi' }], status: 'completed', runId: undefined, model: undefined, finishReason: undefined,
  usage: undefined, costUsd: undefined, processingMs: undefined, createdAt: new Date('2026-01-02T03:04:05Z'), rating: undefined, siblings: 1
}

t.test('a file of a message is shown under its full address, any other part as it is', async (t) => {
  const file = { type: 'file', url: '/v1/threads/t/files/f/content', mediaType: 'text/csv', filename: 'a.csv', providerMetadata: { parley: { fileId: 'f' } } } as const
  const other = { type: 'file', url: '/elsewhere', mediaType: 'text/csv' } as const
  const shown = toUIMessage({ ...view, parts: [file, other] }, { threadId: 't', baseUrl: 'https://chat.example.com' })
  t.strictSame(shown.parts, [{ ...file, url: `https://chat.example.com${file.url}` }, other])
  t.strictSame(toUIMessage({ ...view, parts: [file] }, { threadId: 't' }).parts, [file])
})

t.test('a user message says when it was made and has no empty fields', async (t) => {
  t.strictSame(asJson(toUIMessage(view, { threadId: 'thread-1' })), {
    id: 'row-1', role: 'user', metadata: { createdAt: '2026-01-02T03:04:05.000Z', status: 'completed', threadId: 'thread-1', siblings: 1 }, parts: [{ type: 'text', text: 'Hi' }]
  })
})

t.test('an answer has the metadata of its stream, its rating and its branches, under the id of its client', async (t) => {
  const answer = toUIMessage({ ...view, id: 'row-2', clientId: 'client-2', role: 'assistant', status: 'failed', runId: 'run-1', model: 'test:model', finishReason: 'error', usage: noUsage, costUsd: 0, processingMs: 0, rating: { rating: -1, comment: 'No' }, siblings: 2 }, { threadId: 'thread-1' })
  t.match(answer, { id: 'client-2', role: 'assistant' })
  t.strictSame(answer.metadata, { createdAt: '2026-01-02T03:04:05.000Z', status: 'failed', finishReason: 'error', usage: noUsage, costUsd: 0, processingMs: 0, model: 'test:model', threadId: 'thread-1', runId: 'run-1', rating: { rating: -1, comment: 'No' }, siblings: 2 })
  for (const client of clientNames) await t.resolves(validateMessages(client, [asJson(answer)]))
})
