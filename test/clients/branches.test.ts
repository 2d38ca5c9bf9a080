import t from 'tap'
import { clientNames } from '../helpers/ai-clients.ts'
import { startApp } from '../helpers/app.ts'
import { scriptedModel, type ScriptedModel } from '../helpers/scripted-model.ts'
import { assertAgreement, historyOf, openChat, textsOf } from './live-chat.ts'

for (const client of clientNames) {
  t.test(`${client}: answers made anew replace each other, and the model never reads the old ones`, async (t) => {
    const model = scriptedModel([['First answer'], ['Second answer'], ['Third answer']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'regenerated' })
    await live.chat.sendMessage({ text: 'Question' })
    await live.chat.regenerate()
    await live.chat.regenerate()
    t.equal(live.chat.error, undefined)
    t.strictSame(textsOf(live.chat.messages), ['Question', 'Third answer'])
    t.strictSame(heardBy(model), [['Question'], ['Question'], ['Question']])
    await assertAgreement(t, server, live)
    const [, answer] = await historyOf(server.url, 'regenerated')
    t.match(answer?.metadata, { siblings: 3 })
  })

  t.test(`${client}: an earlier answer made anew drops what came after it`, async (t) => {
    const model = scriptedModel([['A1'], ['A2'], ['A1 again'], ['A2 again']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'earlier-answer' })
    await live.chat.sendMessage({ text: 'Q1' })
    await live.chat.sendMessage({ text: 'Q2' })
    const [, first] = live.chat.messages
    await live.chat.regenerate({ messageId: first?.id ?? '' })
    t.strictSame(textsOf(live.chat.messages), ['Q1', 'A1 again'])
    await live.chat.sendMessage({ text: 'Q2 new' })
    t.strictSame(heardBy(model).slice(2), [['Q1'], ['Q1', 'A1 again', 'Q2 new']])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: the answer to an earlier question can be made anew by naming the question`, async (t) => {
    const model = scriptedModel([['A1'], ['A2'], ['A1 again']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'earlier-question' })
    await live.chat.sendMessage({ text: 'Q1' })
    await live.chat.sendMessage({ text: 'Q2' })
    await live.chat.regenerate({ messageId: live.chat.messages[0]?.id ?? '' })
    t.strictSame(textsOf(live.chat.messages), ['Q1', 'A1 again'])
    t.strictSame(heardBy(model)[2], ['Q1'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: an edited question takes its later turns out of the conversation`, async (t) => {
    const model = scriptedModel([['A1'], ['A2'], ['A3'], ['A2 new'], ['A2 newest'], ['A4']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'edited-thread' })
    for (const text of ['M1', 'M2', 'M3']) await live.chat.sendMessage({ text })
    const second = live.chat.messages[2]?.id ?? ''
    await live.chat.sendMessage({ text: 'M2 new', messageId: second })
    t.equal(live.chat.error, undefined)
    t.strictSame(heardBy(model)[3], ['M1', 'A1', 'M2 new'])
    t.strictSame(textsOf(live.chat.messages), ['M1', 'A1', 'M2 new', 'A2 new'])
    await assertAgreement(t, server, live)

    await live.chat.sendMessage({ text: 'M2 newest', messageId: second })
    await live.chat.sendMessage({ text: 'M4' })
    t.strictSame(heardBy(model).slice(4), [['M1', 'A1', 'M2 newest'], ['M1', 'A1', 'M2 newest', 'A2 newest', 'M4']])
    await assertAgreement(t, server, live)
    const history = await historyOf(server.url, 'edited-thread')
    t.match(history[2]?.metadata, { siblings: 3 })
  })

  t.test(`${client}: the first question can be edited, and its answer made anew`, async (t) => {
    const model = scriptedModel([['A1'], ['A1 new'], ['A1 newest']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'edited-first' })
    await live.chat.sendMessage({ text: 'M1' })
    await live.chat.sendMessage({ text: 'M1 new', messageId: live.chat.messages[0]?.id ?? '' })
    await live.chat.regenerate()
    t.strictSame(heardBy(model), [['M1'], ['M1 new'], ['M1 new']])
    t.strictSame(textsOf(live.chat.messages), ['M1 new', 'A1 newest'])
    await assertAgreement(t, server, live)
  })
}

/** What the model read, request by request. */
function heardBy ({ requests }: ScriptedModel): string[][] {
  return requests.map(({ messages }) => messages.map((message) => message.role === 'assistant' ? message.text : message.content))
}
