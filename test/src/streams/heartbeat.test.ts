import t from 'tap'
import { delay } from '../../../src/streams/abort.ts'
import { heartbeat } from '../../../src/streams/heartbeat.ts'

t.test('it passes every item in order, and beats only in silence', async (t) => {
  const heard = await collect(heartbeat(spoken(), 20, 'beat'))
  t.strictSame(heard.filter((item) => item !== 'beat'), ['a', 'b', 'c'])
  t.ok(heard.slice(heard.indexOf('b'), heard.indexOf('c')).filter((item) => item === 'beat').length >= 2)
  t.not(heard[1], 'beat', 'what came at once came without a beat')

  async function * spoken (): AsyncGenerator<string, void> {
    yield 'a'
    yield 'b'
    await delay(90)
    yield 'c'
  }
})

t.test('it passes the error of its source after what came before it', async (t) => {
  const heard: string[] = []
  await t.rejects(async () => {
    for await (const item of heartbeat(broken(), 1_000, 'beat')) heard.push(item)
  }, { message: 'broken' })
  t.strictSame(heard, ['a'])

  async function * broken () {
    yield 'a'
    throw new Error('broken')
  }
})

t.test('it closes its source when its reader leaves', async (t) => {
  let closed = false
  for await (const item of heartbeat(watched(), 1_000, 0)) if (item === 2) break
  t.ok(closed)

  async function * watched () {
    try {
      for (let i = 1; ; i++) yield i
    } finally {
      closed = true
    }
  }
})

t.test('its reader may leave in a silence without waiting for the source, whose last failure concerns nobody', async (t) => {
  let release: () => void = () => {}
  const stream = heartbeat(silent(), 10, 'beat')
  t.strictSame(await stream.next(), { value: 'beat', done: false })
  t.strictSame(await stream.return(undefined), { value: undefined, done: true })
  release()
  await delay(10)

  async function * silent (): AsyncGenerator<string> {
    await new Promise<void>((resolve) => { release = resolve })
    try {
      yield 'late'
    } finally {
      await Promise.reject(new Error('nobody reads this'))
    }
  }
})

t.test('a source that cannot be closed is left alone', async (t) => {
  const items = ['a', 'b'].values()
  const source: AsyncIterable<string> = { [Symbol.asyncIterator]: () => ({ next: async () => items.next() as IteratorResult<string> }) }
  t.strictSame(await collect(heartbeat(source, 1_000, 'beat')), ['a', 'b'])
})

async function collect<T> (source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}
