import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { getJson, post, startApp } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, openChat, showsText, textsOf } from './live-chat.ts'

const routes: ReadonlyArray<(url: string, id: string) => string> = [(url) => `${url}/api/chat`, (url, id) => `${url}/v1/threads/${id}/messages`]

for (const client of clientNames) {
  t.test(`${client}: several turns on either route are one conversation, live and after a reload`, async (t) => {
    for (const [index, route] of routes.entries()) {
      const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'Hm. ' }, 'Hel', 'lo'], ['Again']])
      const server = await startApp(t, { model })
      const id = `conversation-${index}`
      const live = await openChat(client, server, { id, api: route(server.url, id) })

      await live.chat.sendMessage({ text: 'First question' })
      t.equal(live.chat.error, undefined)
      t.strictSame(textsOf(live.chat.messages), ['First question', 'Hello'])
      await live.chat.sendMessage({ text: 'Second question' })
      t.strictSame(model.requests[1]?.messages.map(({ role, ...message }) => [role, 'content' in message ? message.content : message.text]), [
        ['user', 'First question'], ['assistant', 'Hello'], ['user', 'Second question']
      ])
      await assertAgreement(t, server, live)
    }
  })

  t.test(`${client}: the metadata of a finished message is the same live and after a reload`, async (t) => {
    const server = await startApp(t, { model: scriptedModel([['Hello']]) })
    const { chat } = await openChat(client, server, { id: 'metadata-thread' })
    await chat.sendMessage({ text: 'Hi' })
    const { items: [, { metadata: { createdAt, siblings, ...stored } }] } = await getJson(`${server.url}/v1/threads/metadata-thread/messages`)
    const { createdAt: streamedAt, ...streamed } = chat.messages[1]?.metadata as Record<string, unknown>
    t.strictSame(streamed, stored)
    t.equal(siblings, 1)
    t.ok(Math.abs(Date.parse(String(streamedAt)) - Date.parse(createdAt)) < 5_000)
    t.match(stored, { status: 'completed', finishReason: 'stop', threadId: 'metadata-thread', usage: { input: 10, output: 5 } })
  })

  t.test(`${client}: a chat without an id is answered from what the client tells, and nothing is kept`, async (t) => {
    const model = scriptedModel([['One'], ['Two']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'not-sent', prepareSendMessagesRequest: ({ messages }) => ({ body: { messages } }) })
    await live.chat.sendMessage({ text: 'First' })
    await live.chat.sendMessage({ text: 'Second' })
    t.strictSame(textsOf(live.chat.messages), ['First', 'One', 'Second', 'Two'])
    t.equal(model.requests[1]?.messages.length, 3)
    t.strictSame((await getJson(`${server.url}/v1/threads`)).items, [])
  })

  t.test(`${client}: a transport that sends only the newest message has the same conversation`, async (t) => {
    const ask = defineTool({ name: 'ask_colour' })
    const model = scriptedModel([['A1'], ['A1 again'], ['A1 new'], toolCall('call-1', 'ask_colour'), ['Red it is']])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [ask] }] })
    const live = await openChat(client, server, {
      id: 'newest-only',
      sendAutomatically: 'when-tools-are-answered',
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({ body: { id, message: messages.at(-1), trigger, messageId } })
    })
    await live.chat.sendMessage({ text: 'M1' })
    await live.chat.regenerate()
    await live.chat.sendMessage({ text: 'M1 new', messageId: live.chat.messages[0]?.id ?? '' })
    await live.chat.sendMessage({ text: 'Paint it' })
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await showsText(live, 'Red it is')
    await atRest(live)
    t.equal(live.chat.error, undefined)
    t.strictSame(textsOf(live.chat.messages), ['M1 new', 'A1 new', 'Paint it', 'Red it is'])
    t.equal(model.requests.length, 5)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: an agent that does not exist is an error the client shows, and nothing is kept`, async (t) => {
    const server = await startApp(t, { model: scriptedModel([['Never']]) })
    const { chat } = await openChat(client, server, { id: 'no-such-agent', body: { agentId: 'nobody' } })
    await chat.sendMessage({ text: 'Hi' })
    t.equal(chat.status, 'error')
    t.match(JSON.parse(chat.error?.message ?? ''), { code: 'not_found', retryable: false, ref: /^[0-9a-f]{8}$/ })
    t.equal((await fetch(`${server.url}/v1/threads/no-such-agent`)).status, 404)
  })
}

t.test('an agent that does not exist is 404 on every way to chat', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Never']]) })
  const body = { agentId: 'nobody', text: 'Hi' }
  for (const [path, extra] of [['/api/chat', { id: 'thread-of-nobody' }], ['/api/chat', {}], ['/v1/threads/thread-of-nobody/messages', {}]] as const) {
    const { status, body: text } = await post(`${server.url}${path}`, { ...body, ...extra })
    t.equal(status, 404)
    t.equal(JSON.parse(text).code, 'not_found')
  }
})
