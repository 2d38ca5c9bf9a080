import t from 'tap'
import type { CompactionPolicy } from '../../../src/agents/compaction-policy.ts'
import { defineAgent } from '../../../src/agents/agent.ts'
import { estimateInput } from '../../../src/models/estimate.ts'
import type { ModelMessage, ModelRequest } from '../../../src/models/model.ts'
import { compact, type CompactionOptions } from '../../../src/runtime/compaction.ts'
import { createInputGauge } from '../../../src/runtime/input-gauge.ts'
import { createSummaryCache } from '../../../src/runtime/summary-cache.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { brokenPairs } from '../../helpers/model-messages.ts'

const policy = defineAgent({ key: 'x', compaction: 'auto' }).compaction as CompactionPolicy // as it says
const contextWindow = 4_000

const words = (count: number, about = 'word') => Array.from({ length: count }, (_, i) => `${about}${i % 7}`).join(' ')
const user = (content: string): ModelMessage => ({ role: 'user', content })
const says = (text: string): ModelMessage => ({ role: 'assistant', text, toolCalls: [] })

function calls (callId: string, result: string, more: Partial<ModelMessage & { role: 'assistant' }> = {}): ModelMessage[] {
  return [
    { role: 'assistant', text: '', toolCalls: [{ callId, toolName: 'find', arguments: '{"q":"x"}' }], ...more },
    { role: 'tool', callId, toolName: 'find', content: result }
  ]
}

function requestOf (messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: 'You are a helpful agent.', messages, tools: [], toolChoice: 'auto', settings: {}, ...more }
}

interface Asked { readonly options: CompactionOptions, readonly asked: ModelRequest[], readonly log: ReturnType<typeof recordingLog> }

function world (more: Partial<CompactionOptions> & { readonly reply?: string | undefined, readonly cache?: ReturnType<typeof createSummaryCache> } = {}): Asked {
  const asked: ModelRequest[] = []
  const log = recordingLog()
  const reply = 'reply' in more ? more.reply : 'They spoke of many things.'
  const ask = async (request: ModelRequest) => { asked.push(request); return reply }
  const { cache, reply: _reply, ...options } = more
  return { asked, log, options: { policy, contextWindow, gauge: createInputGauge(), question: undefined, log, ...options, summaries: { modelId: 'p:m', cache, ask } } }
}

/** A thread of so many turns, about `tokens` long. */
function thread (turns: number, tokens: number): ModelMessage[] {
  const wordsEach = Math.floor(tokens / turns / 2 / 1.9)
  return Array.from({ length: turns }, (_, n) => [user(`Question ${n}: ${words(wordsEach, 'ask')}`), says(`Answer ${n}: ${words(wordsEach, 'reply')}`)]).flat()
}

t.test('a conversation that fits stays the very one it is', async (t) => {
  const { options, asked } = world()
  const request = requestOf([user('Hi'), says('Hello')])
  t.equal(await compact(request, options), request.messages)
  t.equal(asked.length, 0)
})

t.test('it begins where 92 % of the window are taken', async (t) => {
  const messages = [...thread(20, contextWindow), user('And now?')]
  const taken = estimateInput(requestOf(messages))
  const sent = async (contextWindow: number) => await compact(requestOf(messages), world({ contextWindow }).options)
  t.equal(await sent(Math.ceil(taken / 0.92)), messages)
  t.not(await sent(Math.floor(taken / 0.93)), messages)
})

t.test('a thread of 200 turns, three times the window, comes under it with its first and its last message and the newest steps', async (t) => {
  const { options, asked, log } = world()
  const history = [...thread(200, 3 * contextWindow), user('And now?')]
  const frozen = history.map((message) => Object.freeze(message))
  const request = requestOf(Object.freeze(frozen))
  t.ok(estimateInput(request) > 2.8 * contextWindow, `${estimateInput(request)} tokens before`)

  const messages = await compact(request, options)
  for (const sent of [requestOf(messages), ...asked]) {
    t.ok(estimateInput(sent) < 0.92 * contextWindow, `${estimateInput(sent)} tokens`)
    t.strictSame((sent.messages[0] as { content: string }).content, (history[0] as { content: string }).content, 'the first message is there')
  }
  t.ok(asked.length >= 2, 'summed up piece by piece')
  t.equal(messages.at(-1), history.at(-1))
  t.strictSame(messages.slice(-8), history.slice(-8), 'the newest four answers and what they answer')
  t.match(messages[1], { role: 'user', content: /summed up to make room.*They spoke of many things\./s })
  t.strictSame(brokenPairs(messages), [])
  t.match(log.lines, [{ level: 'info', fields: { contextWindow } }])
})

t.test('old results go first, from the oldest on and no more than needed, and a call keeps its place', async (t) => {
  const { options, asked } = world()
  const history = [user('Go'), ...Array.from({ length: 10 }, (_, i) => calls(`c${i}`, words(220))).flat()]
  const messages = await compact(requestOf(history), options)
  t.equal(asked.length, 0, 'no model is needed for that')
  t.strictSame(brokenPairs(messages), [])
  t.equal(messages.length, history.length)
  const left = messages.map((message) => message.role === 'tool' && message.content.startsWith('[This result of'))
  const dropped = left.filter(Boolean).length
  t.ok(dropped >= 1 && dropped <= 6, `${dropped} dropped`)
  t.strictSame(left.filter((_, i) => history[i]?.role === 'tool'), Array.from({ length: 10 }, (_, i) => i < dropped))
  t.strictSame(messages.slice(-8), history.slice(-8), 'the newest four steps')
  t.ok(estimateInput(requestOf(messages)) <= 0.75 * contextWindow, 'and room for more')
})

t.test('old reasoning goes next, then turns are summed up', async (t) => {
  const reasoning = [{ model: 'p:m', itemId: 'r', encryptedContent: 'x'.repeat(1_600), text: '' }]
  const thinking = [user('Go'), ...Array.from({ length: 10 }, (_, i) => calls(`c${i}`, 'ok', { reasoning })).flat()]
  const without = world()
  const lighter = await compact(requestOf(thinking), without.options)
  t.equal(without.asked.length, 0)
  t.strictSame(lighter.flatMap((message) => message.role === 'tool' ? [message.content] : []), Array.from({ length: 10 }, () => 'ok'), 'a result that is shorter than its note stays')
  t.strictSame(lighter.slice(-8), thinking.slice(-8))
  t.ok(lighter.some((message) => message.role === 'assistant' && message.reasoning === undefined))

  const talking = world()
  const all = [user('Go'), ...Array.from({ length: 10 }, (_, i) => calls(`c${i}`, words(100), { reasoning, text: words(150) })).flat()]
  const messages = await compact(requestOf(all), talking.options)
  t.ok(talking.asked.length > 0)
  t.strictSame(brokenPairs(messages), [])
  t.match(talking.asked[0]?.messages.at(-1), { content: /Result of find: word0 word1/ }, 'what was found is in the summary, although the result was left out')
})

t.test('a long run keeps its question, whatever reminders came after it', async (t) => {
  const question = user('The question')
  const { options } = world({ question })
  const history = [user('Long ago'), says(words(400)), question, ...Array.from({ length: 12 }, (_, i) => calls(`c${i}`, 'ok', { text: words(200) })).flat(), user('You have not called "x" yet.')]
  const messages = await compact(requestOf(history), options)
  t.ok(messages.length < history.length)
  for (const kept of [history[0], question, history.at(-1)]) t.ok(messages.includes(kept as ModelMessage))
})

t.test('questions between the newest steps go last, when nothing else is left', async (t) => {
  const { options } = world()
  const history = [user('First'), ...Array.from({ length: 4 }, (_, n) => [user(`Pasted ${n}: ${words(500)}`), says('ok')]).flat(), user('Last')]
  const messages = await compact(requestOf(history), options)
  t.ok(estimateInput(requestOf(messages)) < 0.92 * contextWindow)
  t.equal(messages.filter((message) => message.role === 'assistant').length, 4)
  t.ok(messages.includes(history[0] as ModelMessage) && messages.includes(history.at(-1) as ModelMessage))
  t.ok(messages.includes(history[7] as ModelMessage), 'the newest of them stay')
})

t.test('what was summed up once is not read again on the next turn', async (t) => {
  const cache = createSummaryCache()
  const turn = async (turns: number) => {
    const { options, asked } = world({ cache })
    const messages = await compact(requestOf([...thread(200, 3 * contextWindow).slice(0, turns * 2), user('And now?')]), options)
    t.ok(estimateInput(requestOf(messages)) < 0.92 * contextWindow)
    return { asked: asked.length, messages }
  }
  const first = await turn(190)
  t.ok(first.asked >= 8)
  const second = await turn(191)
  t.ok(second.asked <= 1)
  t.strictSame((await turn(191)).messages, second.messages)
  t.equal((await turn(191)).asked, 0)
})

t.test('where no summary can be had, old turns are left out all the same, and the model is told', async (t) => {
  const history = [...thread(100, 2 * contextWindow), user('And now?')]
  const failing = world({ reply: undefined })
  const messages = await compact(requestOf(history), failing.options)
  t.ok(estimateInput(requestOf(messages)) < 0.92 * contextWindow)
  t.match(messages[1], { content: '[What followed this was left out to make room.]' })
  t.equal(failing.asked.length, 1)
  t.match(failing.log.lines, [{ level: 'warn' }, { level: 'info' }])

  const silent = world({ policy: { ...policy, summarise: false } })
  t.match((await compact(requestOf(history), silent.options))[1], { content: /was left out/ })
  t.equal(silent.asked.length, 0)
  t.match(silent.log.lines, [{ level: 'info' }])
})

t.test('a summary without end is cut, and one piece without end too', async (t) => {
  const { options, asked } = world({ reply: words(5_000, 'blah') })
  const history = [user('Go'), says(words(5_000)), ...thread(40, contextWindow), user('And now?')]
  const messages = await compact(requestOf(history), options)
  for (const sent of [requestOf(messages), ...asked]) t.ok(estimateInput(sent) < 0.92 * contextWindow)
})

t.test('room is left for the answer', async (t) => {
  const { options } = world()
  const settings = { maxOutputTokens: 2_000 }
  const messages = await compact(requestOf(thread(40, 0.7 * contextWindow), { settings }), options)
  t.ok(estimateInput(requestOf(messages)) <= 2_000)
})

t.test('a request that its provider found too long is shortened whatever we measured', async (t) => {
  const { options } = world()
  const history = [...thread(40, 0.6 * contextWindow), user('And now?')]
  const before = estimateInput(requestOf(history))
  t.equal(await compact(requestOf(history), options), history)
  const messages = await compact(requestOf(history), options, 'overflow')
  t.ok(estimateInput(requestOf(messages)) < 0.85 * before)
})

t.test('a conversation is measured as its provider counts it', async (t) => {
  const gauge = createInputGauge()
  const history = [...thread(40, 0.6 * contextWindow), user('And now?')]
  gauge.learn(requestOf(history), 2 * estimateInput(requestOf(history)))
  const { options } = world({ gauge })
  const messages = await compact(requestOf(history), options)
  t.ok(gauge.measure(requestOf(messages)) < 0.75 * contextWindow)
})

t.test('where what must stay is too long, that is all there is, and it is logged', async (t) => {
  const { options, log } = world()
  const history = [user(words(2_500))]
  t.equal(await compact(requestOf(history), options), history)
  t.match(log.lines.at(-1), { level: 'warn' })
})
