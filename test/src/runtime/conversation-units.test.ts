import t from 'tap'
import type { ModelMessage } from '../../../src/models/model.ts'
import { unitsOf } from '../../../src/runtime/conversation-units.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const says = (text: string): ModelMessage => ({ role: 'assistant', text, toolCalls: [] })
const step = (...ids: string[]): ModelMessage[] => [
  { role: 'assistant', text: '', toolCalls: ids.map((callId) => ({ callId, toolName: 'x', arguments: '{}' })) },
  ...ids.map((callId): ModelMessage => ({ role: 'tool', callId, toolName: 'x', content: '' }))
]

/** One letter a unit: U and S are kept, u and s are not; old ones are in brackets. */
function shape (messages: readonly ModelMessage[], { keepSteps = 2, question }: { keepSteps?: number, question?: ModelMessage } = {}): string {
  return unitsOf(messages, { keepSteps, question }).map(({ kind, isKept, isOld }) => {
    const letter = isKept ? kind[0]?.toUpperCase() : kind[0]
    return isOld ? `(${letter})` : letter
  }).join('')
}

t.test('a step is a model\'s message with the results of all its calls', async (t) => {
  const messages = [user('a'), ...step('c1', 'c2'), ...step('c3'), says('done')]
  const units = unitsOf(messages, { keepSteps: 1, question: undefined })
  t.strictSame(units.map((unit) => unit.messages.length), [1, 3, 2, 1])
  t.strictSame(units.flatMap((unit) => unit.messages), messages)
})

for (const [name, messages, options, expected] of [
  ['the newest steps are kept, with the questions before them', [user('a'), says('1'), user('b'), says('2'), user('c'), says('3'), user('d')], {}, '(U)(s)uSuSU'],
  ['in one long turn the question is the first and the last message', [user('a'), ...step('1'), ...step('2'), ...step('3')], {}, '(U)(s)SS'],
  ['a question is kept behind reminders', [user('a'), says('1'), user('q'), ...step('2'), ...step('3'), ...step('4'), user('r')], { question: undefined }, '(U)(s)(u)(s)SSU'],
  ['no steps at all', [user('a'), user('b'), user('c')], {}, 'UuU'],
  ['none are kept', [user('a'), says('1'), user('b')], { keepSteps: 0 }, '(U)(s)U'],
  ['fewer than are kept', [user('a'), says('1')], { keepSteps: 4 }, 'US'],
  ['it begins with an answer', [says('0'), user('a'), says('1'), says('2')], {}, '(s)USS'],
  ['nothing', [], {}, '']
] as const) {
  t.test(`what is kept: ${name}`, async (t) => { t.equal(shape(messages, options as { keepSteps?: number }), expected) })
}

t.test('what the run is to answer is kept by itself', async (t) => {
  const question = user('q')
  t.equal(shape([user('a'), says('1'), question, ...step('2'), ...step('3'), ...step('4'), user('r')], { question }), '(U)(s)(U)(s)SSU')
})
