import t from 'tap'
import { delay } from '../../../src/streams/abort.ts'
import { abortable, closeSoon } from '../../../src/streams/abortable.ts'

const never = new AbortController().signal

t.test('it passes every item in order', async (t) => {
  t.strictSame(await collect(abortable(counting(3), never)), [1, 2, 3])
})

t.test('it passes the error of its source after what came before it', async (t) => {
  const heard: number[] = []
  await t.rejects(async () => {
    for await (const item of abortable(broken(), never)) heard.push(item)
  }, { message: 'broken' })
  t.strictSame(heard, [1])

  async function * broken () {
    yield 1
    throw new Error('broken')
  }
})

t.test('it closes its source when its reader leaves', async (t) => {
  const closed = { count: 0 }
  for await (const item of abortable(counting(9, closed), never)) if (item === 2) break
  t.equal(closed.count, 1)
})

t.test('an abort ends it at once and closes its source, whether it speaks, is silent, or has not begun', async (t) => {
  for (const waitMs of [0, 10_000]) {
    const stop = new AbortController()
    const closed = { count: 0 }
    const stream = abortable(counting(9, closed, waitMs, stop.signal), stop.signal)
    await stream.next()
    const pending = stream.next()
    if (waitMs === 0) await pending
    stop.abort(new Error('stopped'))
    await t.rejects(waitMs === 0 ? stream.next() : pending, { message: 'stopped' })
    t.equal(closed.count, 1)
  }
  const begun = { value: false }
  await t.rejects(abortable(noting(begun), AbortSignal.abort(new Error('stopped'))).next(), { message: 'stopped' })
  t.equal(begun.value, false)

  async function * noting (begun: { value: boolean }) {
    begun.value = true
    yield 1
  }
})

t.test('a source that hangs holds nobody for long', async (t) => {
  const stop = new AbortController()
  const pending = abortable(deaf(), stop.signal).next()
  stop.abort(new Error('stopped'))
  await t.rejects(pending, { message: 'stopped' })

  async function * deaf () {
    await new Promise(() => {})
    yield 1
  }
})

t.test('what fails while it is closed concerns nobody', async (t) => {
  await closeSoon({ return: async () => { throw new Error('broken') } })
  await closeSoon({})
  const stream = abortable(failing(), never)
  await stream.next()
  t.strictSame(await stream.return(), { value: undefined, done: true })

  async function * failing () {
    try {
      yield 1
    } finally {
      await Promise.reject(new Error('nobody reads this'))
    }
  }
})

async function * counting (last: number, closed = { count: 0 }, waitMs = 0, signal?: AbortSignal): AsyncGenerator<number, void> {
  try {
    for (let item = 1; item <= last; item++) {
      yield item
      if (waitMs > 0) await delay(waitMs, signal)
    }
  } finally {
    closed.count++
  }
}

async function collect<T> (stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
