import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { delay } from '../../../src/streams/abort.ts'
import { gather } from '../../../src/streams/gather.ts'

t.test('what comes in one turn of the event loop is one chunk, in order', async (t) => {
  t.strictSame(await collect(gather(spoken())), ['abc', 'd'])

  async function * spoken () {
    yield 'a'
    await Promise.resolve()
    yield 'b'
    yield 'c'
    await delay(20)
    yield 'd'
  }
})

t.test('an error of its source comes after what came before it', async (t) => {
  const heard: string[] = []
  await t.rejects(async () => {
    for await (const chunk of gather(broken())) heard.push(chunk as string)
  }, { message: 'broken' })
  t.strictSame(heard, ['ab'])

  async function * broken () {
    yield 'a'
    yield 'b'
    await turn()
    await turn()
    throw new Error('broken')
  }
})

t.test('it closes its source when its reader leaves, and is not held up by a source that waits', async (t) => {
  let closed = false
  for await (const chunk of gather(watched())) if ((chunk as string).includes('x')) break
  t.ok(closed)
  const waiting = gather(silent())
  waiting.resume()
  await turn()
  waiting.destroy()
  await once(waiting, 'close')

  async function * watched () {
    try {
      for (;;) yield 'x'
    } finally {
      closed = true
    }
  }

  async function * silent (): AsyncGenerator<string> {
    await new Promise(() => {})
  }
})

t.test('a source that never pauses is pulled no further than its reader reads', async (t) => {
  let given = 0
  const readable = gather(endless())
  readable.read()
  await delay(20)
  const before = given
  await delay(20)
  t.ok(before > 0 && given === before, 'it stops while nobody reads')
  t.ok(before * 1_024 <= 4 * 16_384)
  readable.read()
  await delay(20)
  t.ok(given > before, 'and goes on with the next read')
  readable.destroy()

  async function * endless () {
    for (;;) {
      given++
      yield 'x'.repeat(1_024)
    }
  }
})

t.test('it says when the end comes with the chunk that is next, and how long that is', async (t) => {
  const said: number[] = []
  const beforeLast = (characters: number) => { said.push(characters) }
  t.strictSame(await collect(gather(spoken(['a', 'bc']), { beforeLast })), ['abc'])
  t.strictSame(said, [3])
  t.strictSame(await collect(gather(spoken([]), { beforeLast })), [])
  t.strictSame(await collect(gather(late(), { beforeLast })), ['a'])
  t.strictSame(said, [3], 'not where the last chunk is gone already')

  async function * spoken (pieces: readonly string[]) {
    yield * pieces
  }

  async function * late () {
    yield 'a'
    await delay(20)
  }
})

async function collect (source: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = []
  for await (const chunk of source) chunks.push(chunk)
  return chunks
}
