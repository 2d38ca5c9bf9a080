import t from 'tap'
import { delay, untilAborted } from '../../../src/streams/abort.ts'

const never = () => new Promise<never>(() => {})

t.test('untilAborted settles like its promise', async (t) => {
  const { signal } = new AbortController()
  t.equal(await untilAborted(Promise.resolve(1), signal), 1)
  await t.rejects(untilAborted(Promise.reject(new Error('broken')), signal), { message: 'broken' })
})

t.test('untilAborted rejects with the reason as soon as the signal aborts', async (t) => {
  const controller = new AbortController()
  const waiting = untilAborted(never(), controller.signal)
  const reason = new Error('stopped')
  controller.abort(reason)
  await t.rejects(waiting, reason)
  await t.rejects(untilAborted(never(), controller.signal), reason)
})

t.test('a promise that fails after the abort ends nothing, not even the process', async (t) => {
  const controller = new AbortController()
  controller.abort(new Error('stopped'))
  const failed = delay(5).then(() => { throw new Error('too late') })
  const unhandled: unknown[] = []
  const note = (error: unknown) => { unhandled.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => { process.off('unhandledRejection', note) })
  await t.rejects(untilAborted(failed, controller.signal), { message: 'stopped' })
  await delay(20)
  t.strictSame(unhandled, [])
})

t.test('untilAborted leaves no listener behind', async (t) => {
  const { signal } = new AbortController()
  const listeners: string[] = []
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => { listeners.push(args[0]); add(...args) }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => { listeners.pop(); remove(...args) }
  await untilAborted(Promise.resolve(1), signal)
  await delay(1, signal)
  t.strictSame(listeners, [])
})

t.test('delay waits, and ends early without error when the signal aborts', async (t) => {
  const begun = performance.now()
  await delay(30)
  t.ok(performance.now() - begun >= 28)

  const controller = new AbortController()
  const waiting = delay(60_000, controller.signal)
  controller.abort()
  await waiting
  await delay(60_000, controller.signal)
  t.pass('neither waited a minute')
})
