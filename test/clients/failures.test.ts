import t from 'tap'
import { AppError } from '../../src/errors.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { post, startApp } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'
import { assertAgreement, historyOf, openChat, textsOf } from './live-chat.ts'

const broken = { throw: new Error('SECRET upstream text') }

for (const client of clientNames) {
  t.test(`${client}: an answer that breaks off is an error, keeps its text, and the next message is answered`, async (t) => {
    const model = scriptedModel([['Once upon', broken], ['Sorry, again']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'broken-off' })
    await live.chat.sendMessage({ text: 'A story' })
    t.equal(live.chat.status, 'error')
    t.equal(live.chat.error?.message, 'Something went wrong on our side.')
    t.strictSame(textsOf(live.chat.messages), ['A story', 'Once upon'])
    t.match(live.chat.messages[1]?.parts.at(-1), { type: 'data-error', data: { code: 'unknown', retryable: true, ref: /^[0-9a-f]{8}$/ } })
    await assertAgreement(t, server, live)
    t.notMatch((await live.streams()).join(), /SECRET/)

    await live.chat.sendMessage({ text: 'Go on' })
    t.equal(live.chat.status, 'ready')
    t.strictSame(textsOf(live.chat.messages), ['A story', 'Once upon', 'Go on', 'Sorry, again'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: an answer that broke off can be made anew`, async (t) => {
    const model = scriptedModel([['Once upon', broken], ['The end']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'made-anew' })
    await live.chat.sendMessage({ text: 'A story' })
    await live.chat.regenerate()
    t.equal(live.chat.error, undefined)
    t.strictSame(textsOf(live.chat.messages), ['A story', 'The end'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a model that refuses at once is an error under the question, which can be sent again`, async (t) => {
    const refused = { throw: new AppError('quota_exceeded', 'The quota is used up.') }
    const model = scriptedModel([[refused], ['Hello']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'refused-at-once' })
    await live.chat.sendMessage({ id: 'question-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] })
    t.equal(live.chat.error?.message, 'The quota is used up.')
    await assertAgreement(t, server, live)

    const again = await openChat(client, server, { id: 'refused-at-once' })
    await again.chat.sendMessage({ id: 'question-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] })
    t.equal(again.chat.error, undefined)
    t.strictSame(textsOf(await historyOf(server.url, 'refused-at-once')), ['Hi', 'Hello'])
    await assertAgreement(t, server, again)
  })
}

t.test('a broken stream says so before it ends', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Once', broken]]) })
  const { chunks, body } = await post(`${server.url}/api/chat`, { id: 'says-so-thread', text: 'A story' })
  t.strictSame(chunks.slice(-5).map(({ type }) => type), ['text-end', 'data-error', 'error', 'finish-step', 'finish'])
  t.equal(chunks.at(-1)?.['finishReason'], 'error')
  t.ok(body.endsWith('data: [DONE]\n\n'))
})
