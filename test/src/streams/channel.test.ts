import t from 'tap'
import { createChannel } from '../../../src/streams/channel.ts'

t.test('a reader gets all that has gathered as one batch, in order, then what comes later', async (t) => {
  const channel = createChannel<number>()
  const reader = channel[Symbol.asyncIterator]()
  channel.push(1)
  channel.push(2)
  t.strictSame(await reader.next(), { value: [1, 2], done: false })
  const waiting = reader.next()
  channel.push(3)
  channel.push(4)
  t.strictSame(await waiting, { value: [3, 4], done: false })
})

t.test('closing ends the reader after what is queued, also one that waits', async (t) => {
  const channel = createChannel<number>()
  channel.push(1)
  channel.close()
  const batches: Array<readonly number[]> = []
  for await (const batch of channel) batches.push(batch)
  t.strictSame(batches, [[1]])
  t.equal(channel.push(2), false, 'a closed channel takes nothing')

  const quiet = createChannel<number>()
  const waiting = quiet[Symbol.asyncIterator]().next()
  quiet.close()
  t.strictSame(await waiting, { value: undefined, done: true })
})

t.test('an item beyond the capacity it was pushed with is dropped and said to be', async (t) => {
  const channel = createChannel<number>()
  t.strictSame([1, 2, 3].map((item) => channel.push(item, 2)), [true, true, false])
  t.equal(channel.push(4), true, 'what must not be lost has no capacity')
  t.strictSame((await channel[Symbol.asyncIterator]().next()).value, [1, 2, 4])
})

t.test('a reader may leave', async (t) => {
  const channel = createChannel<number>()
  channel.push(1)
  const reader = channel[Symbol.asyncIterator]()
  t.strictSame(await reader.next(), { value: [1], done: false })
  await reader.return?.()
  t.equal(channel.push(2), true)
})
