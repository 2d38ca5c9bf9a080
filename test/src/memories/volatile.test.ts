import t from 'tap'
import { volatile } from '../../../src/memories/volatile.ts'
import { memoryContract, said, thread } from '../../contracts/memory.ts'
import { bob, otherAlice } from '../../contracts/turns.ts'

t.test('the memory in this process', async (t) => {
  memoryContract(t, async () => ({ memory: volatile(), addThread: async () => {} }))
})

t.test('a thread that is new to it begins with what was given, and each has a copy', async (t) => {
  const initial = said('Be brief.', 'I will.')
  const memory = volatile({ initial })
  initial.pop()
  const recalled = await memory.recall(thread)
  t.strictSame(recalled, { messages: said('Be brief.', 'I will.'), version: undefined })
  Object.assign(recalled.messages[0]!, { content: 'changed' }) // there are two
  t.strictSame((await memory.recall({ ...thread, threadId: 'thread-2' })).messages, said('Be brief.', 'I will.'))
  await memory.remember(thread, said('other'), { version: 'a1', replaces: undefined })
  t.strictSame(await memory.recall(thread), { messages: said('other'), version: 'a1' })
})

t.test('beyond its limit it forgets the thread that was not prepared or remembered for longest', async (t) => {
  const memory = volatile({ threadsLimit: 2 })
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((threadId) => ({ ...thread, threadId }))
  const known = async () => {
    const all = await Promise.all([a, b, c, d].map(async (each) => (await memory.recall(each!)).version)) // of four
    return all.filter((version) => version !== undefined)
  }
  await memory.remember(a!, said('a'), { version: 'a', replaces: undefined })
  await memory.remember(b!, said('b'), { version: 'b', replaces: undefined })
  t.strictSame(await known(), ['a', 'b'])
  await memory.recall(a!)
  await memory.remember(c!, said('c'), { version: 'c', replaces: undefined })
  t.strictSame(await known(), ['b', 'c'], 'a recall does not refresh')
  await memory.prepare(b!, '')
  await memory.prepare(b!, '')
  await memory.remember(d!, said('d'), { version: 'd', replaces: undefined })
  t.strictSame(await known(), ['b', 'd'], 'preparing does, and changes nothing')
  await memory.remember(b!, said('b2'), { version: 'b2', replaces: 'b' })
  await memory.prepare(a!, '')
  t.strictSame(await known(), ['b2'], 'remembering does, and a thread that is only prepared has its place')
})

t.test('a turn whose thread was forgotten for want of room is remembered all the same', async (t) => {
  const memory = volatile({ threadsLimit: 1 })
  await memory.remember(thread, said('a'), { version: 'a1', replaces: undefined })
  await memory.prepare({ ...thread, threadId: 'thread-2' }, '')
  t.equal(await memory.remember(thread, said('b'), { version: 'a2', replaces: 'a1' }), true)
  t.strictSame(await memory.recall(thread), { messages: said('b'), version: 'a2' })
})

t.test('a thread is forgotten when it is told to, for all agents, and so are all of an owner', async (t) => {
  const memory = volatile()
  const threads = [thread, { ...thread, agentId: 'agent-2' }, { ...thread, threadId: 'thread-2' }, { ...thread, principal: bob }, { ...thread, principal: otherAlice }]
  for (const each of threads) await memory.remember(each, said('x'), { version: 'v', replaces: undefined })
  const kept = async () => Promise.all(threads.map(async (each) => (await memory.recall(each)).version !== undefined))
  await memory.forget(thread.principal, 'thread-1')
  t.strictSame(await kept(), [false, false, true, true, true])
  await memory.forget(thread.principal, undefined)
  t.strictSame(await kept(), [false, false, false, true, true])
})

t.test('a limit that is no number of threads is refused', async (t) => {
  for (const threadsLimit of [0, -1, 1.5, NaN, Infinity]) t.throws(() => volatile({ threadsLimit }), { name: 'TypeError' }, String(threadsLimit))
})
