import t from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { agUiClients, openAgent, textsOf as agUiTexts } from '../helpers/ag-ui-clients.ts'
import { clientNames, readChunks } from '../helpers/ai-clients.ts'
import { getJson, startApp } from '../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { atRest, openChat, showsText, textsOf } from './live-chat.ts'

const askColour = defineTool({ name: 'ask_colour', description: 'Asks the user for a colour.' })
const send = defineTool({ name: 'send', input: z.object({}), needsApproval: true, execute: () => 'sent' })
const agents = [{ key: 'tester', storage: 'none' as const, tools: [askColour, send] }]
const asking: readonly ScriptStep[] = ['Which colour? ', ...toolCall('call-1', 'ask_colour')]

for (const client of clientNames) {
  t.test(`${client}: an agent that keeps no threads answers turn after turn what the client tells`, async (t) => {
    const model = scriptedModel([['One'], ['Two'], ['Two again'], ['Three']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'unstored-chat' })
    await live.chat.sendMessage({ text: 'First' })
    await live.chat.sendMessage({ text: 'Second' })
    t.strictSame(textsOf(live.chat.messages), ['First', 'One', 'Second', 'Two'])
    t.equal(new Set(live.chat.messages.map(({ id }) => id)).size, 4)
    await live.chat.regenerate()
    t.strictSame(textsOf(live.chat.messages), ['First', 'One', 'Second', 'Two again'])
    t.strictSame(model.requests[2]?.messages, model.requests[1]?.messages, 'the answer that is made anew is not told')
    await live.chat.sendMessage({ text: 'Edited', messageId: live.chat.messages[2]?.id ?? '' })
    t.strictSame(textsOf(live.chat.messages), ['First', 'One', 'Edited', 'Three'])
    t.strictSame(model.requests[3]?.messages, [{ role: 'user', content: 'First' }, { role: 'assistant', text: 'One', toolCalls: [] }, { role: 'user', content: 'Edited' }])
    t.equal(live.chat.error, undefined)
    for (const body of await live.streams()) {
      const types = (await readChunks(client, body)).map(({ type }) => type)
      t.strictSame([types[0], types.at(-1)], ['start', 'finish'])
    }
    t.strictSame((await getJson(`${server.url}/v1/threads`)).items, [])
  })

  t.test(`${client}: a client tool of an agent that keeps no threads goes on with the same message`, async (t) => {
    const model = scriptedModel([asking, ['And? ', ...toolCall('call-1', 'ask_colour')], ['Red it is'], ['Gladly']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'unstored-tool', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    t.match(live.chat.messages[1]?.parts.at(-1), { type: 'tool-ask_colour', state: 'input-available' })
    const waiting = live.chat.messages[1]?.id
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: { colour: 'red' } })
    await showsText(live, 'And? ')
    await atRest(live)
    const again = live.chat.messages[1]?.parts.at(-1)
    t.match(again, { type: 'tool-ask_colour', state: 'input-available' }, 'a call of its own, though the provider repeats its id')
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: String(again?.['toolCallId']), state: 'output-error', errorText: 'closed' })
    await showsText(live, 'Red it is')
    await atRest(live)
    t.equal(live.chat.error, undefined)
    t.equal(live.chat.messages.length, 2)
    t.equal(live.chat.messages[1]?.id, waiting)
    t.strictSame(live.chat.messages[1]?.parts.map(({ type }) => type), ['step-start', 'text', 'tool-ask_colour', 'step-start', 'text', 'tool-ask_colour', 'step-start', 'text'])
    t.strictSame(model.requests[2]?.messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'assistant', 'tool'])
    t.match(model.requests[2]?.messages.at(-1), { role: 'tool', content: 'Error: closed' })
    await live.chat.sendMessage({ text: 'Thanks' })
    t.strictSame(textsOf(live.chat.messages).slice(2), ['Thanks', 'Gladly'])
    t.strictSame((await getJson(`${server.url}/v1/threads`)).items, [])
  })
}

for (const client of agUiClients) {
  t.test(`${client}: an agent that keeps no threads answers what the client tells, and takes results of its tools`, async (t) => {
    const model = scriptedModel([['One'], asking, ['Red it is']])
    const server = await startApp(t, { model, agents })
    const { agent, say, answer } = await openAgent(client, server, 'unstored-agui')
    await say('First')
    await say('Paint it')
    const end = await answer('call-1', 'red')
    t.equal(end.error, undefined)
    t.strictSame(agUiTexts(agent.messages), ['First', 'One', 'Paint it', 'Which colour? ', 'Red it is'])
    t.strictSame(model.requests[2]?.messages.map(({ role }) => role), ['user', 'assistant', 'user', 'assistant', 'tool'])
    t.match(model.requests[2]?.messages.at(-1), { callId: 'call-1', toolName: 'ask_colour', content: 'red' })
    t.strictSame((await getJson(`${server.url}/v1/threads`)).items, [])
  })
}

t.test('a call that needs approval is refused, since nobody could be asked later', async (t) => {
  const model = scriptedModel([toolCall('call-1', 'send'), ['Not sent']])
  const server = await startApp(t, { model, agents })
  const live = await openChat('ai7', server, { id: 'unstored-approval' })
  await live.chat.sendMessage({ text: 'Send it' })
  t.match(model.requests[1]?.messages.at(-1), { role: 'tool', content: /approval/ })
  t.strictSame(textsOf(live.chat.messages), ['Send it', 'Not sent'])
})
