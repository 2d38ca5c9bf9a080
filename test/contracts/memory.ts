import type { Test } from 'tap'
import type { Principal } from '../../src/auth/principal.ts'
import type { MemoryThread, VersionedMemory } from '../../src/memories/memory.ts'
import type { ModelMessage } from '../../src/models/model.ts'
import { alice, bob, otherAlice } from './turns.ts'

export interface OpenMemory {
  readonly memory: VersionedMemory
  /** Makes a thread that can be remembered. */
  readonly addThread: (principal: Principal, threadId: string) => Promise<unknown>
}

export const thread: MemoryThread = { principal: alice, agentId: 'agent-1', threadId: 'thread-1' }

export function said (...texts: readonly string[]): ModelMessage[] {
  return texts.map((text, index) => index % 2 === 0 ? { role: 'user', content: text } : { role: 'assistant', text, toolCalls: [] })
}

const conversation: ModelMessage[] = [
  { role: 'user', content: 'What is \0 in "this"? \uD83D', images: [{ mediaType: 'image/png', base64: 'AAAA' }] },
  { role: 'assistant', text: '', reasoning: [{ model: 'p:m', itemId: 'rs_1', encryptedContent: 'e', text: 'hm' }], toolCalls: [{ callId: 'c1', toolName: 'look', arguments: '{"b":1,"a":[]}' }, { callId: 'c2', toolName: 'look', arguments: '{}' }] },
  { role: 'tool', callId: 'c1', toolName: 'look', content: 'a cat' },
  { role: 'tool', callId: 'c2', toolName: 'look', content: '' },
  { role: 'assistant', text: 'A cat 🐈', toolCalls: [] }
]

/** What every memory that we bring does. */
export function memoryContract (t: Test, open: (t: Test) => Promise<OpenMemory>): void {
  t.test('what is remembered is exactly what the next recall gives, again and again', async (t) => {
    const { memory } = await withThreads(t)
    t.strictSame(await memory.recall(thread), { messages: [], version: undefined })
    t.equal(await memory.remember(thread, conversation, { version: 'a1', replaces: undefined }), true)
    for (let time = 0; time < 2; time++) t.strictSame(await memory.recall(thread), { messages: conversation, version: 'a1' })
    t.equal(await memory.remember(thread, said('a summary'), { version: 'a2', replaces: 'a1' }), true)
    t.strictSame(await memory.recall(thread), { messages: said('a summary'), version: 'a2' })
    t.equal(await memory.remember(thread, [], { version: 'a3', replaces: 'a2' }), true)
    t.strictSame(await memory.recall(thread), { messages: [], version: 'a3' }, 'nothing can be remembered too')
  })

  t.test('nobody changes what is remembered through what went in or came out', async (t) => {
    const { memory } = await withThreads(t)
    const messages = said('one', 'two')
    await memory.remember(thread, messages, { version: 'a1', replaces: undefined })
    messages.pop()
    Object.assign(messages[0]!, { content: 'changed' }) // there is one
    const first = await memory.recall(thread)
    Object.assign(first.messages[0]!, { content: 'changed' }) // as remembered
    t.strictSame((await memory.recall(thread)).messages, said('one', 'two'))
  })

  t.test('each agent has its own memory of each thread of each owner', async (t) => {
    const { memory } = await withThreads(t)
    const threads = [
      thread, { ...thread, agentId: 'agent-2' }, { ...thread, threadId: 'thread-2' }, { ...thread, principal: bob }, { ...thread, principal: otherAlice },
      { ...thread, agentId: 'agent-1","thread-1' }
    ]
    for (const [index, each] of threads.entries()) t.equal(await memory.remember(each, said(`thread ${index}`), { version: `v${index}`, replaces: undefined }), true)
    for (const [index, each] of threads.entries()) t.strictSame(await memory.recall(each), { messages: said(`thread ${index}`), version: `v${index}` })
  })

  t.test('a turn that began before another one ended is refused, and overwrites nothing', async (t) => {
    const { memory } = await withThreads(t)
    t.equal(await memory.remember(thread, said('first'), { version: 'a1', replaces: undefined }), true)
    t.equal(await memory.remember(thread, said('late'), { version: 'b1', replaces: undefined }), false, 'of two that began with nothing')
    t.equal(await memory.remember(thread, said('second'), { version: 'a2', replaces: 'a1' }), true)
    t.equal(await memory.remember(thread, said('late'), { version: 'b2', replaces: 'a1' }), false)
    t.equal(await memory.remember(thread, said('lost'), { version: 'b3', replaces: 'never' }), false)
    t.strictSame(await memory.recall(thread), { messages: said('second'), version: 'a2' })
    t.equal(await memory.remember(thread, said('third'), { version: 'a3', replaces: 'a2' }), true, 'who recalls again is not refused')
  })

  t.test('of many turns at once that began alike, one is remembered', async (t) => {
    const { memory } = await withThreads(t)
    for (const replaces of [undefined, 'first']) {
      const versions = Array.from({ length: 10 }, (_, index) => `${replaces ?? 'new'}-${index}`)
      const kept = await Promise.all(versions.map((version) => memory.remember(thread, said(version), { version, replaces })))
      t.equal(kept.filter(Boolean).length, 1)
      const winner = versions[kept.indexOf(true)] ?? ''
      t.strictSame(await memory.recall(thread), { messages: said(winner), version: winner })
      await memory.remember(thread, said('first'), { version: 'first', replaces: winner })
    }
  })

  t.test('a long conversation is remembered whole', async (t) => {
    const { memory } = await withThreads(t)
    const long = said(...Array.from({ length: 2_000 }, (_, index) => `${index} `.repeat(200)))
    await memory.remember(thread, long, { version: 'a1', replaces: undefined })
    t.strictSame((await memory.recall(thread)).messages, long)
  })

  async function withThreads (t: Test): Promise<OpenMemory> {
    const opened = await open(t)
    for (const principal of [alice, bob, otherAlice]) for (const id of ['thread-1', 'thread-2']) await opened.addThread(principal, id)
    return opened
  }
}
