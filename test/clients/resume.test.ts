import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { startApp, until } from '../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { assertAgreement, createGate, historyOf, openChat, showsText, textsOf, type Gate } from './live-chat.ts'

const answerUntil = ({ opened }: Gate): readonly ScriptStep[] => [{ type: 'reasoning-delta', delta: 'Hm.' }, 'Once ', 'upon ', { until: opened }, 'a ', 'time']
const whole = 'Once upon a time'

for (const client of clientNames) {
  t.test(`${client}: a reload in mid-answer shows the whole answer from its beginning`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([answerUntil(gate)])
    const server = await startApp(t, { model })
    const line = breakableLine()
    const first = await openChat(client, server, { id: 'dropped-line', fetch: line.fetch })
    const sent = first.chat.sendMessage({ text: 'A story' })
    await showsText(first, 'upon')
    line.cut()
    await sent
    t.equal(first.chat.status, 'error')

    const reloaded = await openChat(client, server, { id: 'dropped-line', messages: await historyOf(server.url, 'dropped-line') })
    t.equal(reloaded.chat.messages.length, 1, 'an unfinished answer is not in the history')
    const resumed = reloaded.chat.resumeStream()
    await showsText(reloaded, 'upon')
    gate.open()
    await resumed
    t.equal(reloaded.chat.error, undefined)
    t.strictSame(textsOf(reloaded.chat.messages), ['A story', whole])
    t.equal(reloaded.chat.messages[1]?.id, first.chat.messages[1]?.id)
    t.equal(model.requests.length, 1)
    await assertAgreement(t, server, reloaded)
  })

  // The reducer of ai 5 goes on from the broken message after a network error, whatever a resumed stream starts with.
  if (client !== 'ai5') {
    t.test(`${client}: a chat whose line broke resumes in place`, async (t) => {
      const gate = createGate()
      const server = await startApp(t, { model: scriptedModel([answerUntil(gate)]) })
      const line = breakableLine()
      const live = await openChat(client, server, { id: 'resumed-in-place', fetch: line.fetch })
      const sent = live.chat.sendMessage({ text: 'A story' })
      await showsText(live, 'upon')
      line.cut()
      await sent
      const resumed = live.chat.resumeStream()
      await until('it is read again', () => live.chat.status === 'streaming')
      gate.open()
      await resumed
      t.equal(live.chat.error, undefined)
      t.strictSame(textsOf(live.chat.messages), ['A story', whole])
      await assertAgreement(t, server, live)
    })
  }

  t.test(`${client}: several readers follow one answer, each from its beginning`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([answerUntil(gate)])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'many-readers' })
    const sent = live.chat.sendMessage({ text: 'A story' })
    await showsText(live, 'upon')
    const question = live.chat.messages.slice(0, 1)
    const readers = await Promise.all([1, 2, 3].map(() => openChat(client, server, { id: 'many-readers', messages: question })))
    const resumed = readers.map(({ chat }) => chat.resumeStream())
    for (const reader of readers) await showsText(reader, 'upon')
    gate.open()
    await Promise.all([sent, ...resumed])
    for (const reader of [live, ...readers]) await assertAgreement(t, server, reader)
    t.equal(model.requests.length, 1)
  })

  t.test(`${client}: a reload while a message is continued shows all of it`, async (t) => {
    const ask = defineTool({ name: 'ask_colour' })
    const gate = createGate()
    const model = scriptedModel([['Which colour? ', ...toolCall('call-1', 'ask_colour')], answerUntil(gate)])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [ask] }] })
    const live = await openChat(client, server, { id: 'continued-thread', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await showsText(live, 'upon')

    const reloaded = await openChat(client, server, { id: 'continued-thread', messages: await historyOf(server.url, 'continued-thread') })
    const resumed = reloaded.chat.resumeStream()
    await showsText(reloaded, 'upon')
    gate.open()
    await resumed
    await until('the first reader has it all', () => live.chat.status === 'ready')
    for (const reader of [live, reloaded]) {
      t.strictSame(textsOf(reader.chat.messages), ['Paint it', `Which colour? ${whole}`])
      await assertAgreement(t, server, reader)
    }
  })

  t.test(`${client}: there is nothing to resume in a thread that is unknown, idle or waiting`, async (t) => {
    const ask = defineTool({ name: 'ask_colour' })
    const model = scriptedModel([['Hello'], toolCall('call-1', 'ask_colour')])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [ask] }] })
    const live = await openChat(client, server, { id: 'nothing-to-resume' })
    for (const question of [undefined, 'Hi', 'Paint it']) {
      if (question !== undefined) await live.chat.sendMessage({ text: question })
      const before = live.chat.messages
      await live.chat.resumeStream()
      t.equal(live.chat.status, 'ready')
      t.strictSame(live.chat.messages, before)
      for (const path of ['api/chat', 'v1/threads']) t.equal((await fetch(`${server.url}/${path}/nothing-to-resume/stream`)).status, 204)
    }
    await assertAgreement(t, server, live)
  })
}

/** A fetch whose replies can be cut as a network cuts them. */
function breakableLine (): { fetch: typeof fetch, cut: () => void } {
  const cuts = new Set<() => void>()
  return {
    cut: () => { for (const cut of cuts) cut() },
    fetch: async (input, init) => {
      const leaving = new AbortController()
      const response = await fetch(input, { ...init, signal: leaving.signal })
      const reader = response.body?.getReader()
      const body = new ReadableStream<Uint8Array>({
        start (controller) {
          cuts.add(() => {
            leaving.abort()
            controller.error(new TypeError('network error'))
          })
        },
        async pull (controller) {
          const result = await reader?.read().catch(() => undefined) // cut: the controller knows already
          if (leaving.signal.aborted) return
          if (result === undefined || result.done) controller.close()
          else controller.enqueue(result.value)
        }
      })
      return new Response(body, response)
    }
  }
}
