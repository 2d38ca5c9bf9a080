import t from 'tap'
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames, type Chunk } from '../helpers/ai-clients.ts'
import { startApp } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { assertAgreement, openChat, textsOf } from './live-chat.ts'

const tools = [
  defineTool({ name: 'add', title: 'Add', input: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => ({ sum: a + b }) }),
  defineTool({ name: 'nothing', execute: () => undefined }),
  defineTool({ name: 'weird', execute: () => ({ big: 12345678901234567890n, when: new Date(0), no: undefined }) }),
  defineTool({ name: 'refuses', execute: () => { throw new AppError('conflict', 'Not today.') } }),
  defineTool({ name: 'breaks', execute: () => { throw new Error('SECRET') } }),
  defineTool({ name: 'works', execute: async (_input, { report }) => { report('half way', 0.5); return 'done' } })
]

for (const client of clientNames) {
  t.test(`${client}: calls of every outcome look the same live and after a reload`, async (t) => {
    const model = scriptedModel([
      ['Let me see. ', ...toolCall('call-1', 'add', { a: 1, b: 2 }), ...toolCall('call-2', 'add', { a: 'one' }), ...toolCall('call-3', 'no_such_tool')],
      [{ type: 'reasoning-delta', delta: 'More.' }, ...toolCall('call-4', 'nothing'), ...toolCall('call-5', 'weird'), ...toolCall('call-6', 'breaks')],
      [...toolCall('call-7', 'refuses'), ...toolCall('call-8', 'add', '{broken'), ...toolCall('call-9', 'works')],
      ['Three.']
    ])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools }] })
    const progress: Chunk[] = []
    const live = await openChat(client, server, {
      id: 'every-outcome',
      sendAutomatically: 'when-tools-are-answered',
      onData: (part) => { if (part.type === 'data-progress') progress.push(part) }
    })
    await live.chat.sendMessage({ text: 'Add one and two' })
    t.equal(live.chat.error, undefined)
    t.equal(live.posts.length, 1)
    t.equal(model.requests.length, 4)
    t.strictSame(textsOf(live.chat.messages), ['Add one and two', 'Let me see. Three.'])
    const outcomes = live.chat.messages[1]?.parts.filter(({ toolCallId }) => toolCallId !== undefined)
    t.match(outcomes?.map(({ state }) => state), ['output-available', 'output-error', 'output-error', 'output-available', 'output-available', 'output-error', 'output-error', 'output-error', 'output-available'])
    t.match(progress, [{ data: { toolCallId: 'call-9', message: 'half way', fraction: 0.5 } }])
    t.notMatch((await live.streams()).join(), /SECRET/)
    await assertAgreement(t, server, live)

    await live.chat.sendMessage({ text: 'Thanks' })
    t.equal(live.chat.error, undefined)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a thread's title reaches the client once, and is no part of the message`, async (t) => {
    const server = await startApp(t, { model: scriptedModel([['Hello']]), agents: [{ key: 'tester', titleGeneration: true }] })
    const titles: unknown[] = []
    const live = await openChat(client, server, { id: 'titled-thread', onData: (part) => { if (part.type === 'data-title') titles.push(part['data']) } })
    await live.chat.sendMessage({ text: 'Hi' })
    await live.chat.sendMessage({ text: 'Again' })
    t.strictSame(titles, [{ title: 'Hello' }])
    await assertAgreement(t, server, live)
  })
}
