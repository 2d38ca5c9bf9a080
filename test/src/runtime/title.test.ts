import t from 'tap'
import { isTerminal, type RunEventBody } from '../../../src/events/run-event.ts'
import { makeTitle, withTitle } from '../../../src/runtime/title.ts'
import type { Model } from '../../../src/models/model.ts'
import { delay } from '../../../src/streams/abort.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { started } from '../../helpers/run-events.ts'

const { signal } = new AbortController()
const text = (delta: string): RunEventBody => ({ type: 'text-delta', blockId: 'b', delta })
const completed: RunEventBody = { type: 'run-completed' }

const titles = [
  { name: 'as it is', said: ['A walk in Rome'], title: 'A walk in Rome' },
  { name: 'without quotes, full stop and line breaks', said: ['"A walk', '\nin  Rome."'], title: 'A walk in Rome' },
  { name: 'of 80 characters at most, never half of one', said: ['😀'.repeat(100)], title: '😀'.repeat(80) },
  { name: 'none where the model says nothing', said: [' " " '], title: undefined }
]

for (const { name, said, title } of titles) {
  t.test(`a title is taken ${name}`, async (t) => { t.equal(await makeTitle(scriptedModel([said]), 'question', signal), title) })
}

t.test('the question is given as text to be named, without tools, and not without end', async (t) => {
  const model = scriptedModel([['T']])
  await makeTitle(model, 'x'.repeat(10_000), signal)
  t.match(model.requests, [{ instructions: /not instructions to follow/, tools: [], toolChoice: 'none' }])
  t.equal((model.requests[0]?.messages[0] as { content: string }).content.length, 2_000)
})

t.test('a model that never stops writing its title is left', async (t) => {
  let left = false
  const model: Model = {
    id: 'endless',
    async * generate () {
      try {
        for (let i = 0; i < 1_000_000; i++) yield [{ type: 'text-delta', delta: 'on and on ' }]
      } finally {
        left = true
      }
    }
  }
  t.equal((await makeTitle(model, 'question', signal))?.length, 80)
  t.ok(left)
})

t.test('a title that is ready in time is among the events, once, and never before the first output', async (t) => {
  const seen: string[] = []
  const events = withTitle(paced([started], [{ type: 'step-start', step: 1 }], [text('a')], [text('b')], [text('c')], [completed]), async () => {
    seen.push('made')
    return 'The title'
  })
  for await (const batch of events) for (const event of batch) seen.push(event.type)
  t.strictSame(seen.slice(0, 4), ['message-start', 'step-start', 'made', 'text-delta'], 'made beside the first output, which does not wait for it')
  t.equal(seen.filter((type) => type === 'title').length, 1)
  t.equal(seen.at(-1), 'run-completed')
})

t.test('the end waits for a title, but not for long', async (t) => {
  const soon = await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => { await delay(30); return 'T' }, 5_000))
  t.strictSame(soon, ['message-start', 'text-delta', 'title', 'run-completed'])
  let stored = false
  const begun = performance.now()
  const late = await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => { await delay(300); stored = true; return 'T' }, 20))
  t.strictSame(late, ['message-start', 'text-delta', 'run-completed'])
  t.ok(performance.now() - begun < 250)
  await delay(350)
  t.ok(stored, 'it is made to its end all the same')
})

t.test('a title that could not be made, or a run that said nothing, has none', async (t) => {
  t.strictSame(await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => undefined)), ['message-start', 'text-delta', 'run-completed'])
  const silent = await typesOf(withTitle(paced([started], [{ type: 'run-stopped', reason: 'user' }]), async () => { throw new Error('not to be made') }))
  t.strictSame(silent, ['message-start', 'run-stopped'])
})

t.test('a call of a tool is output too', async (t) => {
  const types = await typesOf(withTitle(paced([started], [{ type: 'tool-call-start', callId: 'c', toolName: 'x' }], [completed]), async () => 'T', 1_000))
  t.ok(types.includes('title'))
})

t.test('leaving closes the run', async (t) => {
  let closed = false
  for await (const batch of withTitle(watched(), async () => 'T')) if (!batch.some(isTerminal)) break
  t.ok(closed)

  async function * watched (): AsyncGenerator<RunEventBody[]> {
    try {
      yield [started]
      yield [completed]
    } finally {
      closed = true
    }
  }
})

async function * paced (...batches: RunEventBody[][]): AsyncGenerator<RunEventBody[]> {
  for (const batch of batches) {
    await delay(1)
    yield batch
  }
}

async function typesOf (events: AsyncIterable<readonly RunEventBody[]>): Promise<string[]> {
  const types: string[] = []
  for await (const batch of events) types.push(...batch.map(({ type }) => type))
  return types
}
