import t from 'tap'
import { isMemory, type Memory } from '../../../src/memories/memory.ts'
import { withMemoryTools } from '../../../src/memories/memory-tools.ts'
import { createMemories } from '../../../src/memories/memories.ts'
import { rememberTurn } from '../../../src/memories/remember-turn.ts'
import { createTurnMemory, noTurnMemory, type TurnMemoryOptions } from '../../../src/memories/turn-memory.ts'
import { volatile } from '../../../src/memories/volatile.ts'
import type { ModelMessage } from '../../../src/models/model.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { said, thread } from '../../contracts/memory.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'

t.test('turn after turn, an agent recalls what it remembered last', async (t) => {
  const memory = volatile()
  const first = turnOf(memory)
  t.strictSame(await first.recall(), [])
  t.equal(await first.remember(said('one', 'two')), true)
  const second = turnOf(memory, { answerId: 'answer-2', path: ['question-1', 'answer-1'] })
  t.strictSame(await second.recall(), said('one', 'two'))
  t.equal(await second.remember(said('short')), true)
  t.strictSame(await turnOf(memory, { answerId: 'answer-4', path: ['question-1', 'answer-1', 'question-2', 'answer-2', 'question-3', 'answer-3'] }).recall(), said('short'), 'also after a turn that failed')
})

t.test('a question that is asked elsewhere in the thread is given what is stored of that branch', async (t) => {
  const memory = volatile()
  await turnOf(memory).remember(said('old question', 'old answer'))
  const again = turnOf(memory, { answerId: 'answer-1b', path: ['question-1'], stored: said('before') })
  t.strictSame(await again.recall(), said('before'))
  t.equal(await again.remember(said('new question', 'new answer')), true, 'from here on the memory is of this branch')
  t.strictSame(await turnOf(memory, { answerId: 'answer-2', path: ['question-1', 'answer-1b'] }).recall(), said('new question', 'new answer'))
})

t.test('a second recall in one turn is a mistake of the agent', async (t) => {
  for (const turn of [turnOf(volatile()), noTurnMemory()]) {
    await turn.recall()
    await t.rejects(turn.recall(), { code: 'configuration_error', message: /twice/ })
  }
})

t.test('of two turns that ran at once, the slower one is refused', async (t) => {
  const memory = volatile()
  const [slow, fast] = [turnOf(memory), turnOf(memory, { answerId: 'answer-2' })]
  await slow.recall()
  await fast.recall()
  t.equal(await fast.remember(said('fast')), true)
  t.equal(await slow.remember(said('slow')), false)
  t.strictSame((await memory.recall(thread)).messages, said('fast'))
})

t.test('a turn may remember without having recalled, and more than once', async (t) => {
  const memory = volatile()
  await turnOf(memory).remember(said('one'))
  const turn = turnOf(memory, { answerId: 'answer-2' })
  t.equal(await turn.remember(said('two')), true)
  t.equal(await turn.remember(said('three')), true)
  t.strictSame((await memory.recall(thread)).messages, said('three'))
})

t.test('images are not remembered: a model sees them with the question they came with', async (t) => {
  const memory = volatile()
  await turnOf(memory).remember([{ role: 'user', content: 'Look', images: [{ mediaType: 'image/png', base64: 'AAAA' }] }])
  t.strictSame((await memory.recall(thread)).messages, said('Look'))
})

t.test('a memory of somebody’s own may give messages alone, and tools for the turn', async (t) => {
  const note = defineTool({ name: 'take_note' })
  const calls: unknown[] = []
  let kept: readonly ModelMessage[] = said('hello')
  const own: Memory = {
    prepare: (...args) => {
      calls.push(args)
      return [note]
    },
    recall: () => kept,
    remember: (_thread, messages) => { kept = messages }
  }
  const turn = turnOf(own)
  t.strictSame(await turn.prepare('You take notes.'), [note])
  t.strictSame(calls, [[thread, 'You take notes.']])
  t.strictSame(await turn.recall(), said('hello'))
  t.equal(await turn.remember(said('bye')), true)
  t.strictSame(kept, said('bye'))
  t.strictSame(await turnOf({ recall: () => [], remember: () => false }).remember([]), false, 'it may refuse')
  t.strictSame(await turnOf({ recall: () => [], remember () {} }).prepare(''), [])
})

t.test('tools of the memory take the place of the agent’s', async (t) => {
  const [a, b, otherA, c] = ['a', 'b', 'a', 'c'].map((name) => defineTool({ name })) as [never, never, never, never]
  t.strictSame(withMemoryTools([a, b], [c, otherA]), [otherA, b, c])
  t.equal(withMemoryTools([a, b], [otherA])[0], otherA)
  t.strictSame(withMemoryTools([a, b], []), [a, b])
})

t.test('a turn that cannot be remembered is told to the client and the log, and stays what it was', async (t) => {
  const told = [{ type: 'data', name: 'unavailable', data: { stage: 'memory', detail: String }, transient: true }]
  const log = recordingLog()
  const stop = new AbortController()
  const keeping = { log, signal: stop.signal }
  t.strictSame(await rememberTurn(turnOf(volatile()), said('x'), keeping), [])
  t.strictSame(log.lines, [])
  t.match(await rememberTurn(turnOf({ recall: () => [], remember: () => false }), said('x'), keeping), told)
  t.match(await rememberTurn(turnOf({ recall: () => [], remember: () => { throw new Error('away') } }), said('x'), keeping), told)
  t.match(log.lines, [{ level: 'warn', message: /not remembered/ }, { level: 'error', fields: { err: { message: 'away' } } }])
  const hanging = rememberTurn(turnOf({ recall: () => [], remember: () => new Promise(() => {}) }), said('x'), keeping)
  stop.abort(new Error('stopped'))
  await t.rejects(hanging, { message: 'stopped' })
})

t.test('agents have the memory they name, and forget a thread that goes', async (t) => {
  const [database, own] = [volatile(), volatile()]
  const agents = [{ memory: 'none' }, { memory: 'database' }, { memory: 'volatile' }, { memory: own }, { memory: { recall: () => [], remember () {} } }] as const
  const memories = createMemories({ agents: { all: () => agents as never }, database }) // of which only the memory is read
  const turn = { thread, answerId: 'answer-1', path: [], stored: [] }
  t.equal(memories.ofTurn({ memory: 'none' }, turn), undefined)
  for (const memory of ['database', 'volatile', own] as const) t.equal(await memories.ofTurn({ memory }, turn)?.remember(said('x')), true)
  const isKnown = async (memory: 'volatile' | Memory) => (await memories.ofTurn({ memory }, { ...turn, path: ['answer-1'] })?.recall())?.length === 1
  t.strictSame([(await database.recall(thread)).version, await isKnown('volatile'), await isKnown(own)], ['answer-1', true, true])
  await memories.forget(thread.principal, thread.threadId)
  t.strictSame([await isKnown('volatile'), await isKnown(own)], [false, false])
})

t.test('what is no memory is told from one', async (t) => {
  const recall = () => []
  for (const value of [null, 'none', {}, { recall }, { recall, remember: 1 }, { recall, remember: recall, prepare: 'x' }]) t.equal(isMemory(value), false)
  t.equal(isMemory({ recall, remember: recall }), true)
})

function turnOf (memory: Memory, more: Partial<TurnMemoryOptions> = {}) {
  return createTurnMemory({ memory, thread, answerId: 'answer-1', path: [], stored: [], ...more })
}
