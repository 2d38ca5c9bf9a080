import t from 'tap'
import { replayMessage } from '../../../src/runs/replay-message.ts'
import type { Message } from '../../../src/threads/message.ts'
import { answered } from './conversation.ts'

const cases: Array<{ name: string, message: Partial<Message>, end: object[] }> = [
  { name: 'a completed answer', message: { finishReason: 'length', usage: { input: 1, output: 2, reasoning: 0, cachedRead: 0, cacheWrite: 0 } }, end: [{ type: 'message-end', finishReason: 'length', usage: { output: 2 } }, { type: 'run-completed' }] },
  { name: 'an answer of which little is known', message: {}, end: [{ type: 'message-end', finishReason: 'stop', usage: { output: 0 } }, { type: 'run-completed', processingMs: undefined }] },
  { name: 'a stopped answer', message: { status: 'stopped', finishReason: 'other', processingMs: 70 }, end: [{ type: 'message-end' }, { type: 'run-stopped', processingMs: 70 }] },
  {
    name: 'an answer that waits for the client',
    message: { status: 'suspended', parts: [{ type: 'tool-a', toolCallId: 'c1', state: 'input-available', input: {} }, { type: 'tool-a', toolCallId: 'c2', state: 'output-available', input: {}, output: 1 }] },
    end: [{ type: 'run-suspended', pendingCalls: ['c1'] }]
  }
]

for (const { name, message, end } of cases) {
  t.test(`${name} is replayed as a short stream`, async (t) => {
    const stored = { ...answered('a1', 'q1', 'Hello'), ...message }
    const batches = []
    for await (const batch of replayMessage(stored, 'thread-1', 0)) batches.push(batch)
    t.equal(batches.length, 1)
    t.match(batches[0], [{ type: 'message-start', messageId: 'a1', threadId: 'thread-1', seq: 0 }, { type: 'snapshot', parts: stored.parts, seq: 1 }, ...end])
    t.equal(batches[0]?.length, 2 + end.length)
  })
}

t.test('who holds the beginning of an answer is told the rest as its continuation', async (t) => {
  const parts = [{ type: 'text', text: 'Before' }, { type: 'step-start' }, { type: 'text', text: 'After' }] as const
  for await (const batch of replayMessage({ ...answered('a1', 'q1', ''), parts }, 'thread-1', 1)) {
    t.match(batch, [{ type: 'message-start', continued: true }, { type: 'snapshot' }, {}, {}])
    t.strictSame(batch[1], { type: 'snapshot', parts: parts.slice(1), seq: 1, at: '1970-01-01T00:00:00.000Z' })
  }
})
