import t from 'tap'
import { clientNames } from '../helpers/ai-clients.ts'
import { startApp } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'
import { assertAgreement, openChat } from './live-chat.ts'

for (const client of clientNames) {
  t.test(`${client}: suggestions are a part of the answer, live and after a reload`, async (t) => {
    const server = await startApp(t, { model: scriptedModel([['Hello.'], ['{"suggestions":["One?","Two?"]}'], ['Again.'], ['{"suggestions":["Three?"]}']]), agents: [{ key: 'tester', suggestions: true }] })
    const live = await openChat(client, server, { id: 'suggesting-thread' })
    await live.chat.sendMessage({ text: 'Hi' })
    t.equal(live.chat.error, undefined)
    t.strictSame(live.chat.messages[1]?.parts.at(-1), { type: 'data-suggestions', data: { suggestions: ['One?', 'Two?'] } })
    await assertAgreement(t, server, live)
    await live.chat.sendMessage({ text: 'One?' })
    t.strictSame(live.chat.messages[3]?.parts.at(-1)?.['data'], { suggestions: ['Three?'] })
    await assertAgreement(t, server, live)
  })
}
