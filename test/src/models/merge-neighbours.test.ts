import t from 'tap'
import { mergeNeighbours } from '../../../src/models/merge-neighbours.ts'
import type { ModelMessage } from '../../../src/models/model.ts'

const user = (content: string, ...pixels: string[]): ModelMessage => ({ role: 'user', content, ...(pixels.length === 0 ? {} : { images: pixels.map((base64) => ({ mediaType: 'image/png', base64 })) }) })
const said = (text: string, ...calls: string[]): ModelMessage => ({ role: 'assistant', text, toolCalls: calls.map((callId) => ({ callId, toolName: 'look', arguments: '{}' })) })
const result = (callId: string): ModelMessage => ({ role: 'tool', callId, toolName: 'look', content: callId })
const reasoned = (itemId: string, message: ModelMessage) => ({ ...message, reasoning: [{ model: 'm', itemId, encryptedContent: itemId, text: '' }] }) as ModelMessage // only turns of the assistant are given

const cases: Array<{ name: string, messages: readonly ModelMessage[], merged: readonly ModelMessage[] }> = [
  { name: 'nothing is nothing', messages: [], merged: [] },
  { name: 'roles that alternate stay', messages: [user('a'), said('b'), user('c')], merged: [user('a'), said('b'), user('c')] },
  { name: 'users are one, with a blank line between', messages: [user('a'), user('b'), user('c')], merged: [user('a\n\nb\n\nc')] },
  { name: 'images come one after the other', messages: [user('a', 'x'), user('', 'y'), user('b')], merged: [user('a\n\nb', 'x', 'y')] },
  { name: 'answers are one', messages: [user('a'), said('b'), said('c'), user('d')], merged: [user('a'), said('b\n\nc'), user('d')] },
  { name: 'an answer that says nothing keeps nobody apart', messages: [user('a'), said(''), user('b')], merged: [user('a\n\nb')] },
  { name: 'results of tools stay apart', messages: [user('a'), said('', '1', '2'), result('1'), result('2'), said('b')], merged: [user('a'), said('', '1', '2'), result('1'), result('2'), said('b')] },
  { name: 'what was said before calls is said with them', messages: [user('a'), said('b'), said('c', '1'), result('1')], merged: [user('a'), said('b\n\nc', '1'), result('1')] },
  { name: 'calls of two turns stay with their results', messages: [user('a'), said('b', '1'), result('1'), said('c', '2'), result('2'), said('d')], merged: [user('a'), said('b', '1'), result('1'), said('c', '2'), result('2'), said('d')] },
  { name: 'nothing is added to a turn with calls', messages: [said('', '1'), said('b')], merged: [said('', '1'), said('b')] },
  { name: 'reasoning that a model wants back is kept', messages: [reasoned('r1', said('a')), reasoned('r2', said('b', '1')), result('1')], merged: [{ ...said('a\n\nb', '1'), reasoning: ['r1', 'r2'].map((id) => ({ model: 'm', itemId: id, encryptedContent: id, text: '' })) } as ModelMessage, result('1')] }
]

for (const { name, messages, merged } of cases) {
  t.test(name, async (t) => {
    const before = structuredClone(messages)
    t.strictSame(mergeNeighbours(messages), merged)
    t.strictSame(messages, before, 'what was given stays as it was')
  })
}
