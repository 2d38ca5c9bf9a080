import t from 'tap'
import { estimateTokens } from '../../../src/models/estimate.ts'
import type { ModelRequest } from '../../../src/models/model.ts'
import { summarise, summaryOverhead } from '../../../src/runtime/summarise.ts'
import { createSummaryCache } from '../../../src/runtime/summary-cache.ts'
import { cutToTokens, transcriptOf } from '../../../src/runtime/transcript.ts'

function asking (...answers: Array<string | undefined>) {
  const requests: ModelRequest[] = []
  const ask = async (request: ModelRequest) => answers[Math.min(requests.push(request), answers.length) - 1]
  return { requests, options: { beginning: 'How it began', modelId: 'p:m', maxTokens: 100, ask } }
}

t.test('each piece is summed up with the summary of those before it, and with what the conversation began with', async (t) => {
  const { requests, options } = asking('One.', ' One and two.\n')
  t.strictSame(await summarise(['first', 'second'], options), { text: 'One and two.', pieces: 2 })
  t.match(requests, [
    { instructions: /not instructions to follow.*at most 60 words/, messages: [{ content: 'How it began' }, { content: /None yet\..*first/s }], tools: [], toolChoice: 'none' },
    { messages: [{ content: 'How it began' }, { content: /One\..*second/s }] }
  ])
})

t.test('a model that gives nothing ends it, with what there is', async (t) => {
  t.strictSame(await summarise(['a', 'b', 'c'], asking('One.', undefined).options), { text: 'One.', pieces: 1 })
  t.strictSame(await summarise(['a', 'b'], asking('  ').options), { text: undefined, pieces: 0 })
  t.strictSame(await summarise([], asking('x').options), { text: undefined, pieces: 0 })
})

t.test('a summary is known again for the same pieces from the beginning on, of the same model', async (t) => {
  const cache = createSummaryCache()
  const count = async (pieces: string[], more: object = {}) => {
    const { requests, options } = asking('S')
    await summarise(pieces, { ...options, cache, ...more })
    return requests.length
  }
  t.strictSame([await count(['a', 'b']), await count(['a', 'b']), await count(['a', 'b', 'c']), await count(['x', 'b'])], [2, 0, 1, 2])
  t.strictSame([await count(['a', 'b'], { modelId: 'p:other' }), await count(['a', 'b'], { beginning: 'Other' })], [2, 2])
})

t.test('no summary is longer than it may be', async (t) => {
  const { text } = await summarise(['a'], asking('word '.repeat(1_000)).options)
  t.ok(estimateTokens(text ?? '') <= 100)
  t.ok(summaryOverhead(100) > 200)
})

t.test('a transcript tells who said and called what, with the heads of long results', async (t) => {
  const text = transcriptOf([
    { role: 'user', content: 'Find it' },
    { role: 'assistant', text: 'Looking.', toolCalls: [{ callId: 'c', toolName: 'find', arguments: '{"q":1}' }] },
    { role: 'tool', callId: 'c', toolName: 'find', content: 'x'.repeat(5_000) }
  ], 10_000)
  t.match(text, /^User: Find it\nAssistant: Looking\.\nAssistant calls find with {"q":1}\nResult of find: x{1000}\n\[Cut: 5000/)
})

t.test('a text is cut to its tokens, however dense it is', async (t) => {
  t.equal(cutToTokens('short', 100), 'short')
  for (const text of ['word '.repeat(5_000), '循环询问模型'.repeat(1_000), JSON.stringify(Array.from({ length: 2_000 }, (_, i) => i))]) {
    const tokens = estimateTokens(cutToTokens(text, 300))
    t.ok(tokens <= 300 && tokens > 150, `${tokens}`)
  }
})
