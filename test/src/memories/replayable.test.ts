import t from 'tap'
import { replayable, splitAtQuestion } from '../../../src/memories/replayable.ts'
import type { ModelMessage } from '../../../src/models/model.ts'

const question: ModelMessage = { role: 'user', content: 'Where is my order?' }
const answer: ModelMessage = { role: 'assistant', text: 'On its way.', toolCalls: [] }
const offered = (...names: readonly string[]) => (name: string) => names.includes(name)

const cases: readonly { name: string, messages: readonly ModelMessage[], tools?: readonly string[], replayed: readonly ModelMessage[] }[] = [
  { name: 'calls of tools that are offered stay with their results', messages: [question, calls('', 'a', 'b'), result('a'), result('b'), answer], tools: ['a', 'b'], replayed: [question, calls('', 'a', 'b'), result('a'), result('b'), answer] },
  { name: 'a call of another tool goes with its result, and its neighbours stay', messages: [question, calls('Looking.', 'a', 'b'), result('a'), result('b'), answer], tools: ['b'], replayed: [question, calls('Looking.', 'b'), result('b'), answer] },
  { name: 'a message that only called goes whole, its reasoning too', messages: [question, { ...calls('', 'a'), reasoning: [{ model: 'm', itemId: 'i', encryptedContent: 'e', text: '' }] }, result('a'), answer], replayed: [question, answer] },
  { name: 'a message that also said something keeps its words', messages: [question, calls('Looking.', 'a'), result('a'), answer], replayed: [question, calls('Looking.'), answer] },
  { name: 'a call without a result is left out', messages: [question, calls('', 'a', 'b'), result('b')], tools: ['a', 'b'], replayed: [question, calls('', 'b'), result('b')] },
  { name: 'a result without its call is left out', messages: [result('a'), question, result('b'), answer], tools: ['a', 'b'], replayed: [question, answer] },
  { name: 'a result of another step answers nothing', messages: [question, calls('', 'a'), answer, result('a')], tools: ['a'], replayed: [question, answer] },
  { name: 'results come in the order of their calls, and once', messages: [question, calls('', 'a', 'b'), result('b'), result('a'), result('a')], tools: ['a', 'b'], replayed: [question, calls('', 'a', 'b'), result('a'), result('b')] },
  { name: 'an id that a later step uses again belongs to each', messages: [calls('', 'a'), result('a', 'one'), calls('', 'a'), result('a', 'two')], tools: ['a'], replayed: [calls('', 'a'), result('a', 'one'), calls('', 'a'), result('a', 'two')] },
  { name: 'an answer that says nothing is left out', messages: [question, calls('')], replayed: [question] },
  { name: 'nothing stays nothing', messages: [], replayed: [] }
]

for (const { name, messages, tools = [], replayed } of cases) {
  t.test(name, async (t) => {
    const before = structuredClone(messages)
    t.strictSame(replayable(messages, offered(...tools)), replayed)
    t.strictSame(messages, before, 'what is remembered stays as it is')
  })
}

t.test('a turn begins with its newest question', async (t) => {
  t.strictSame(splitAtQuestion([question, answer, question, calls('', 'a'), result('a')]), { earlier: [question, answer], turn: [question, calls('', 'a'), result('a')] })
  t.strictSame(splitAtQuestion([answer]), { earlier: [], turn: [answer] })
  t.strictSame(splitAtQuestion([]), { earlier: [], turn: [] })
})

function calls (text: string, ...names: readonly string[]): ModelMessage & { role: 'assistant' } {
  return { role: 'assistant', text, toolCalls: names.map((name) => ({ callId: `call-${name}`, toolName: name, arguments: '{}' })) }
}

function result (name: string, content = `result of ${name}`): ModelMessage {
  return { role: 'tool', callId: `call-${name}`, toolName: name, content }
}
