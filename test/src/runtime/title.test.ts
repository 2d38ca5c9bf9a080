import t from 'tap'
import { isTerminal, type RunEventBody } from '../../../src/events/run-event.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { makeTitle, withTitle, type MadeTitle } from '../../../src/runtime/title.ts'
import type { Model } from '../../../src/models/model.ts'
import { delay } from '../../../src/streams/abort.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { started } from '../../helpers/run-events.ts'

const { signal } = new AbortController()
const text = (delta: string): RunEventBody => ({ type: 'text-delta', blockId: 'b', delta })
const made = (title: string | undefined, usage?: MadeTitle['usage']): MadeTitle => ({ title, usage })
const completed: RunEventBody = { type: 'run-completed' }

const titles = [
  { name: 'as it is', said: ['A walk in Rome'], title: 'A walk in Rome' },
  { name: 'without quotes, full stop and line breaks', said: ['"A walk', '\nin  Rome."'], title: 'A walk in Rome' },
  { name: 'of 80 characters at most, never half of one', said: ['😀'.repeat(100)], title: '😀'.repeat(80) },
  { name: 'none where the model says nothing', said: [' " " '], title: undefined }
]

for (const { name, said, title } of titles) {
  t.test(`a title is taken ${name}`, async (t) => { t.equal((await makeTitle(scriptedModel([said]), 'question', { signal })).title, title) })
}

t.test('the question is given as text to be named, without tools, and not without end', async (t) => {
  const model = scriptedModel([['T']])
  await makeTitle(model, 'x'.repeat(10_000), { signal })
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
  const { title, usage } = await makeTitle(model, 'question', { signal })
  t.equal(title?.length, 80)
  t.match(usage, { estimated: true })
  t.ok(left)
})

t.test('a title that is ready in time is among the events, once, and never before the first output', async (t) => {
  const seen: string[] = []
  const events = withTitle(paced([started], [{ type: 'step-start', step: 1 }], [text('a')], [text('b')], [text('c')], [completed]), async () => {
    seen.push('made')
    return made('The title')
  })
  for await (const batch of events) for (const event of batch) seen.push(event.type)
  t.strictSame(seen.slice(0, 4), ['message-start', 'step-start', 'made', 'text-delta'], 'made beside the first output, which does not wait for it')
  t.equal(seen.filter((type) => type === 'title').length, 1)
  t.equal(seen.at(-1), 'run-completed')
})

t.test('the end waits for a title, but not for long', async (t) => {
  const soon = await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => { await delay(30); return made('T') }, 5_000))
  t.strictSame(soon, ['message-start', 'text-delta', 'title', 'run-completed'])
  let stored = false
  const begun = performance.now()
  const late = await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => { await delay(300); stored = true; return made('T') }, 20))
  t.strictSame(late, ['message-start', 'text-delta', 'run-completed'])
  t.ok(performance.now() - begun < 250)
  await delay(350)
  t.ok(stored, 'it is made to its end all the same')
})

t.test('a title that could not be made, or a run that said nothing, has none', async (t) => {
  t.strictSame(await typesOf(withTitle(paced([started], [text('a')], [completed]), async () => made(undefined))), ['message-start', 'text-delta', 'run-completed'])
  const silent = await typesOf(withTitle(paced([started], [{ type: 'run-stopped', reason: 'user' }]), async () => { throw new Error('not to be made') }))
  t.strictSame(silent, ['message-start', 'run-stopped'])
})

t.test('an agent words the request for a title itself', async (t) => {
  const model = scriptedModel([['T']])
  await makeTitle(model, 'Rome?', { signal, titlePrompt: async (question, ours) => `${ours} In German: ${question}` })
  t.match(model.requests, [{ instructions: /^Write a title .* In German: Rome\?$/ }])
})

t.test('what a title took is told with it, is part of what the message took, and is told without one too', async (t) => {
  const { usage } = await makeTitle({ ...scriptedModel([['T']]), prices: { input: 1, output: 10 } }, 'question', { signal })
  t.strictSame(usage, { type: 'usage', model: 'test:scripted', buckets: { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, costUsd: 0.00006 })
  const end: RunEventBody = { type: 'message-end', finishReason: 'stop', usage: { ...noUsage, input: 1 }, costUsd: 0.1 }
  for (const title of ['T', undefined]) {
    const events = await eventsOf(withTitle(paced([started], [text('a')], [end, completed]), async () => made(title, usage), 1_000))
    t.strictSame(events.map(({ type }) => type), ['message-start', 'text-delta', 'usage', ...(title === undefined ? [] : ['title']), 'message-end', 'run-completed'])
    t.match(events.at(-2), { usage: { input: 11, output: 5 }, costUsd: 0.10006 })
  }
  const free = await eventsOf(withTitle(paced([started], [text('a')], [text('b')], [{ ...end, costUsd: undefined }, completed]), async () => made('T', usage), 1_000))
  t.notOk('costUsd' in (free.at(-2) ?? {}), 'what is not known stays unknown')
})

t.test('a call of a tool is output too', async (t) => {
  const types = await typesOf(withTitle(paced([started], [{ type: 'tool-call-start', callId: 'c', toolName: 'x' }], [completed]), async () => made('T'), 1_000))
  t.ok(types.includes('title'))
})

t.test('leaving closes the run', async (t) => {
  let closed = false
  for await (const batch of withTitle(watched(), async () => made('T'))) if (!batch.some(isTerminal)) break
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
  return (await eventsOf(events)).map(({ type }) => type)
}

async function eventsOf (events: AsyncIterable<readonly RunEventBody[]>): Promise<RunEventBody[]> {
  const all: RunEventBody[] = []
  for await (const batch of events) all.push(...batch)
  return all
}

t.test('what a title took is told also where its model fails or is stopped', async (t) => {
  const broken = await makeTitle(scriptedModel([['Half a', { throw: new Error('cut') }]]), 'question', { signal })
  t.match(broken, { title: undefined, usage: { type: 'usage', estimated: true }, failure: { error: { message: 'cut' } } })
  const stop = new AbortController()
  const making = makeTitle(scriptedModel([['Half a', { hang: true }]]), 'question', { signal: stop.signal })
  await delay(10)
  stop.abort(new Error('stopped'))
  t.match(await making, { title: undefined, usage: { type: 'usage', estimated: true }, failure: { error: { message: 'stopped' } } })
  t.equal((await makeTitle(scriptedModel([[{ throw: new Error('refused') }]]), 'question', { signal })).usage, undefined, 'a model that said nothing took nothing')
})
