import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { delay } from '../../../src/streams/abort.ts'
import { sendFrames, type SendFramesOptions } from '../../../src/streams/send-frames.ts'

t.test('what comes in one turn of the event loop is one write, in order, and the last goes with the end', async (t) => {
  const { heard, ended } = send(spoken())
  await ended
  t.strictSame(heard, ['abc', 'd'])

  async function * spoken () {
    yield 'a'
    await Promise.resolve()
    yield 'b'
    yield 'c'
    await delay(20)
    yield 'd'
  }
})

t.test('a source that fails breaks the sink, after what came before was written', async (t) => {
  const { heard, ended, failures } = send(broken())
  t.strictSame(await ended, { whole: false })
  t.strictSame(heard, ['ab'])
  t.match(failures, [{ message: 'broken' }])

  async function * broken () {
    yield 'a'
    yield 'b'
    await turn()
    await turn()
    throw new Error('broken')
  }
})

t.test('a response breaks off only after the last that was said before the failure, however late its reader takes it', async (t) => {
  const story = 'x'.repeat(8 * 1024 * 1024)
  for (const words of [['last words'], [story, 'last words']]) {
    const server = createServer((_request, response) => { sendFrames(broken(words), response, { onFailure: () => {} }) })
    t.teardown(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo // it listens on a port
    const socket = connect(port, '127.0.0.1', () => { socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n') })
    await delay(50)
    const heard: Buffer[] = []
    for await (const chunk of socket as AsyncIterable<Buffer>) heard.push(chunk)
    const text = Buffer.concat(heard).toString()
    t.ok(text.endsWith('last words\r\n'), `and has no end: ${text.slice(-40)}`)
    t.ok(text.length > words.join('').length)
  }

  async function * broken (words: readonly string[]) {
    yield * words
    throw new Error('broken')
  }
})

t.test('it closes its source when the sink closes, also one that waits, whose last failure concerns nobody', async (t) => {
  let closed = false
  const heard = send(watched())
  heard.sink.once('drain', () => { heard.sink.destroy() })
  await heard.ended
  await turn()
  t.ok(closed)

  let release: () => void = () => {}
  const { sink, ended, failures } = send(silent())
  await turn()
  sink.destroy()
  await ended
  release()
  await delay(10)
  t.strictSame(failures, [])

  async function * watched () {
    try {
      for (;;) yield 'x'.repeat(20_000)
    } finally {
      closed = true
    }
  }

  async function * silent (): AsyncGenerator<string> {
    await new Promise<void>((resolve) => { release = resolve })
    try {
      yield 'late'
    } finally {
      await Promise.reject(new Error('nobody reads this'))
    }
  }
})

t.test('nothing is taken from its source where the sink is closed already', async (t) => {
  const sink = new Writable()
  sink.destroy()
  await once(sink, 'close')
  const source = { next: t.fail, return: async () => { returned = true; return { done: true as const, value: undefined } } }
  let returned = false
  sendFrames({ [Symbol.asyncIterator]: () => source as unknown as AsyncIterator<string> }, sink, { onFailure: () => { t.fail() } })
  t.ok(returned)
})

t.test('a source that never pauses is asked no further than the sink takes', async (t) => {
  let given = 0
  const { sink, takeOne, ended } = send(endless(), { slow: true })
  await delay(20)
  const before = given
  await delay(20)
  t.ok(before > 0 && given === before, 'it stops while the sink is full')
  t.ok(before * 1_024 <= 4 * 16_384)
  takeOne()
  await delay(20)
  t.ok(given > before, 'and goes on when that has room')
  sink.destroy()
  await ended

  async function * endless () {
    for (;;) {
      given++
      yield 'x'.repeat(1_024)
    }
  }
})

t.test('in silence it writes a beat, again and again, and none while something is said', async (t) => {
  const { heard, ended } = send(spoken(), { silence: { everyMs: 20, beat: 'beat' } })
  await ended
  t.strictSame(heard.filter((chunk) => chunk !== 'beat'), ['ab', 'c'])
  t.ok(heard.slice(heard.indexOf('ab'), heard.indexOf('c')).filter((chunk) => chunk === 'beat').length >= 2)
  t.equal(heard[0], 'ab', 'what came at once came without a beat')

  async function * spoken (): AsyncGenerator<string, void> {
    yield 'a'
    yield 'b'
    await delay(90)
    yield 'c'
  }
})

t.test('a sink that takes nothing is not filled with beats', async (t) => {
  const { sink, heard, ended } = send(silent(), { silence: { everyMs: 5, beat: 'beat' }, slow: true })
  await delay(60)
  t.strictSame(heard, ['beat'], 'one, which the sink has not taken yet')
  t.equal(sink.writableLength, 4)
  sink.destroy()
  await ended

  async function * silent (): AsyncGenerator<string> {
    await new Promise(() => {})
  }
})

t.test('a source that cannot be closed is left alone', async (t) => {
  const items = ['a', 'b'].values()
  const { heard, ended, sink } = send({ [Symbol.asyncIterator]: () => ({ next: async () => items.next() as IteratorResult<string> }) })
  await ended
  t.strictSame(heard, ['ab'])
  t.ok(sink.destroyed)
})

/** What a sink is given, which takes it at once, or one piece whenever it is told to. */
function send (source: AsyncIterable<string>, { slow = false, ...options }: Partial<SendFramesOptions> & { readonly slow?: boolean } = {}) {
  const heard: string[] = []
  const failures: unknown[] = []
  let takeOne: () => void = () => {}
  const sink = new Writable({
    decodeStrings: false,
    highWaterMark: slow ? 1 : 16_384,
    write (text: string, _encoding, done) {
      if (text !== '') heard.push(text)
      if (slow) takeOne = () => { done() }
      else setImmediate(done)
    }
  })
  const ended = once(sink, 'close').then(() => ({ whole: sink.writableFinished }))
  sendFrames(source, sink, { onFailure: (error) => { failures.push(error) }, ...options })
  return { sink, heard, failures, ended, takeOne: () => { takeOne() } }
}
