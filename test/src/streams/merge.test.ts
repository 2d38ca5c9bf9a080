import t from 'tap'
import { delay } from '../../../src/streams/abort.ts'
import { merge } from '../../../src/streams/merge.ts'

const never = new AbortController().signal

t.test('it passes the items of all sources as they come, those of each in order', async (t) => {
  const heard = await collect(merge([spoken('a', 0, 3), spoken('b', 15, 2), spoken('c', 1, 0)], never))
  t.strictSame(heard.filter(({ source }) => source === 0).map(({ item }) => item), ['a1', 'a2', 'a3'])
  t.strictSame(heard.filter(({ source }) => source === 1).map(({ item }) => item), ['b1', 'b2'])
  t.equal(heard.length, 5)
  t.match(heard.slice(-1), [{ source: 1, item: 'b2' }], 'the slow one holds nobody back')
  t.strictSame(await collect(merge([], never)), [])
})

t.test('it asks a source for its next item only when the one before was taken', async (t) => {
  let asked = 0
  async function * counted () {
    for (;;) yield ++asked
  }
  const stream = merge([counted(), counted()], never)
  await stream.next()
  await delay(5)
  t.equal(asked, 2)
  await stream.next()
  await stream.next()
  await delay(5)
  t.ok(asked <= 4, `${asked}`)
  await stream.return()
})

t.test('the first failure ends it and closes the others', async (t) => {
  const closed: string[] = []
  const heard: unknown[] = []
  await t.rejects(async () => {
    for await (const { item } of merge([spoken('a', 0, 9, closed), broken()], never)) {
      heard.push(item)
      await delay(1)
    }
  }, { message: 'broken' })
  t.strictSame(closed, ['a'])
  t.ok(heard.includes('a1'))

  async function * broken () {
    yield 'x'
    throw new Error('broken')
  }
})

t.test('it closes its sources when its reader leaves', async (t) => {
  const closed: string[] = []
  for await (const { item } of merge([spoken('a', 0, 9, closed), spoken('b', 0, 9, closed)], never)) if (item === 'a2') break
  t.strictSame(closed.sort(), ['a', 'b'])
})

t.test('an abort ends its waiting, also for sources that hang', async (t) => {
  const stop = new AbortController()
  const pending = merge([deaf(), deaf()], stop.signal).next()
  setTimeout(() => { stop.abort(new Error('stopped')) }, 5)
  await t.rejects(pending, { message: 'stopped' })

  async function * deaf () {
    await new Promise(() => {})
    yield 1
  }
})

async function * spoken (name: string, everyMs: number, count: number, closed: string[] = []): AsyncGenerator<string, void> {
  try {
    for (let index = 1; index <= count; index++) {
      if (everyMs > 0) await delay(everyMs)
      yield `${name}${index}`
    }
  } finally {
    closed.push(name)
  }
}

async function collect<T> (stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
