import t from 'tap'
import { clientNames } from '../helpers/ai-clients.ts'
import { post, startApp, textIn } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'
import { assertAgreement, createGate, historyOf, openChat, showsText, textsOf } from './live-chat.ts'

const question = { id: 'question-1', role: 'user', parts: [{ type: 'text', text: 'A story' }] } as const

for (const client of clientNames) {
  t.test(`${client}: a message sent twice at once is one question and one answer, shown whole to both`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once ', { until: gate.opened }, 'upon ', 'a time']])
    const server = await startApp(t, { model })
    const both = await Promise.all([1, 2].map(() => openChat(client, server, { id: 'double-click' })))
    const sent = both.map(({ chat }) => chat.sendMessage(question))
    for (const live of both) await showsText(live, 'Once')
    gate.open()
    await Promise.all(sent)
    t.equal(model.requests.length, 1)
    for (const live of both) {
      t.equal(live.chat.error, undefined)
      t.strictSame(textsOf(live.chat.messages), ['A story', 'Once upon a time'])
      await assertAgreement(t, server, live)
    }
  })

  t.test(`${client}: a message posted again after its answer brings the same answer, without asking the model`, async (t) => {
    const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'Hm.' }, 'Once upon a time'], ['More']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'posted-again' })
    await live.chat.sendMessage(question)
    const again = await openChat(client, server, { id: 'posted-again' })
    await again.chat.sendMessage(question)
    t.equal(again.chat.error, undefined)
    t.equal(model.requests.length, 1)
    t.equal(again.chat.messages[1]?.id, live.chat.messages[1]?.id)
    t.match(again.chat.messages[1]?.metadata, { status: 'completed', finishReason: 'stop', usage: { input: 10, output: 5 } })
    await assertAgreement(t, server, again)

    await again.chat.sendMessage({ text: 'And then?' })
    t.strictSame(textsOf(await historyOf(server.url, 'posted-again')), ['A story', 'Once upon a time', 'And then?', 'More'])
  })

  t.test(`${client}: another message while an answer is written is refused with the run to follow`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once upon ', { until: gate.opened }, 'a time'], ['More']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'busy-thread' })
    const sent = live.chat.sendMessage(question)
    await showsText(live, 'Once upon')
    const other = await openChat(client, server, { id: 'busy-thread', messages: live.chat.messages.slice(0, 1) })
    await other.chat.sendMessage({ text: 'Hurry up' })
    t.equal(other.chat.status, 'error')
    const shownError = JSON.parse(other.chat.error?.message ?? '')
    t.match(shownError, { code: 'thread_busy', retryable: true, message: /run in progress/ })
    gate.open()
    await sent
    t.equal(shownError.details.runId, (live.chat.messages[1]?.metadata as { runId: string }).runId)
    await assertAgreement(t, server, live)

    await live.chat.sendMessage({ text: 'And then?' })
    await assertAgreement(t, server, live)
  })
}

t.test('ten posts of one new message in a new thread are one run', async (t) => {
  const model = scriptedModel([['Once ', { waitMs: 50 }, 'upon a time']])
  const server = await startApp(t, { model })
  const body = { id: 'ten-at-once', messages: [question] }
  const replies = await Promise.all(Array.from({ length: 10 }, () => post(`${server.url}/api/chat`, body)))
  t.strictSame(replies.map(({ status }) => status), Array(10).fill(200))
  for (const reply of replies) t.equal(textIn(reply), 'Once upon a time')
  t.equal(new Set(replies.map(({ headers }) => headers.get('x-run-id'))).size, 1)
  t.equal(model.requests.length, 1)
  t.equal((await historyOf(server.url, 'ten-at-once')).length, 2)
})

t.test('ten different messages at once in a new thread are one turn and nine refusals', async (t) => {
  const gate = createGate()
  const server = await startApp(t, { model: scriptedModel([['Once', { until: gate.opened }]]) })
  const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'ten-different', messages: [{ ...question, id: `question-${index}` }] })
  })))
  gate.open()
  t.strictSame(replies.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)])
  for (const reply of replies) {
    const body = await reply.text()
    if (reply.status === 409) t.equal(JSON.parse(body).code, 'thread_busy')
  }
  t.equal((await historyOf(server.url, 'ten-different')).length, 2)
})

t.test('an edit posted twice at once is one new question and one new answer', async (t) => {
  const model = scriptedModel([['A1'], ['A1 ', { waitMs: 50 }, 'new']])
  const server = await startApp(t, { model })
  await post(`${server.url}/api/chat`, { id: 'edited-twice', messages: [question] })
  const edit = { id: 'edited-twice', messageId: question.id, messages: [{ ...question, parts: [{ type: 'text', text: 'Another story' }] }] }
  const replies = await Promise.all([1, 2].map(() => post(`${server.url}/api/chat`, edit)))
  t.strictSame(replies.map(textIn), ['A1 new', 'A1 new'])
  t.equal(model.requests.length, 2)
  t.strictSame(textsOf(await historyOf(server.url, 'edited-twice')), ['Another story', 'A1 new'])
})

t.test('another message under a used id is refused', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Hello']]) })
  await post(`${server.url}/api/chat`, { id: 'used-id-thread', messages: [question] })
  const other = { ...question, parts: [{ type: 'text', text: 'Another story' }] }
  const { status, body } = await post(`${server.url}/api/chat`, { id: 'used-id-thread', messages: [other] })
  t.equal(status, 409)
  t.equal(JSON.parse(body).code, 'conflict')
})
