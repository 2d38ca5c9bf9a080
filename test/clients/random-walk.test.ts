import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import type { Model, ModelMessage, ModelRequest } from '../../src/models/model.ts'
import { clientNames, type Chat } from '../helpers/ai-clients.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { seeded } from '../helpers/random-run.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, historyOf, openChat, showsText, textsOf } from './live-chat.ts'

const tools = [defineTool({ name: 'ask' }), defineTool({ name: 'roll', execute: () => 6 })]
const steps = 14

for (const [index, client] of clientNames.entries()) {
  for (const seed of [index + 1, index + 101]) {
    t.test(`${client}: whatever a user does in a thread, the client, the history and the model agree on it (seed ${seed})`, async (t) => {
      const random = seeded(seed)
      const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]! // never asked to pick from nothing
      const model = userMinded()
      const server = await startApp(t, { model, agents: [{ key: 'tester', tools }] })
      const id = `random-walk-${seed}`
      let live = await openChat(client, server, { id, sendAutomatically: 'when-tools-are-answered' })
      const walk: string[] = []

      for (let step = 0; step < steps; step++) {
        const waits = waitingCalls(live.chat).length > 0
        const action = pick(actionsFor(live.chat))
        walk.push(action)
        const asked = model.requests.length
        await perform(action, `${pick(['talk', 'roll', 'ask', 'ask twice', 'fail', 'hang'])} ${step}`)
        if (model.requests.length > asked) t.strictSame(userTexts(model.requests.at(-1)?.messages ?? []), shownQuestions(live.chat), 'the model reads the branch on show')
        // A client does not hear that its waiting calls were let go.
        if (waits && action !== 'answer') await reload()
        await assertAgreement(t, server, live)
        if (!t.passing()) return t.comment(walk.join(' > '))
      }
      for (const request of model.requests) t.strictSame(unpaired(request), [], 'each call has its result')

      async function perform (action: string, text: string): Promise<void> {
        const users = live.chat.messages.filter(({ role }) => role === 'user')
        const answers = live.chat.messages.filter(({ role }) => role === 'assistant')
        switch (action) {
          case 'send': return await finish(live.chat.sendMessage({ text }), text)
          case 'edit': return await finish(live.chat.sendMessage({ text, messageId: pick(users).id }), text)
          case 'regenerate': return await finish(live.chat.regenerate(), lastQuestion(live.chat))
          case 'regenerate one': {
            const message = pick([...users, ...answers])
            const place = live.chat.messages.indexOf(message)
            const question = message.role === 'user' ? message : live.chat.messages[place - 1]
            return await finish(live.chat.regenerate({ messageId: message.id }), textsOf(question === undefined ? [] : [question])[0] ?? '')
          }
          case 'answer':
            for (const toolCallId of waitingCalls(live.chat)) await live.chat.addToolOutput({ tool: 'ask', toolCallId, output: pick(['red', { size: 1 }, null]) })
            return await atRest(live, () => waitingCalls(live.chat).length === 0 && textsOf(live.chat.messages).at(-1)?.endsWith('answered') === true)
          default: return await reload()
        }
      }

      async function finish (sent: Promise<void>, question: string): Promise<void> {
        const asked = model.requests.length // the request is still on its way
        if (question.startsWith('hang')) {
          await showsText(live, `begun ${asked + 1}`)
          await stop(server, id)
        }
        await sent
        await atRest(live)
      }

      async function reload (): Promise<void> {
        live = await openChat(client, server, { id, sendAutomatically: 'when-tools-are-answered', messages: await historyOf(server.url, id) })
      }
    })
  }
}

function actionsFor (chat: Chat): string[] {
  if (chat.messages.length === 0) return ['send']
  const common = ['send', 'send', 'edit', 'regenerate', 'regenerate one', 'reload']
  return waitingCalls(chat).length > 0 ? [...common, 'answer', 'answer', 'answer', 'answer'] : common
}

/** A model that does what the newest question says. */
function userMinded (): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    id: 'test:user-minded',
    requests,
    generate (request, options) {
      requests.push({ ...request, messages: [...request.messages] }) // the run goes on writing in its own list
      return scriptedModel([script(request, requests.length)]).generate(request, options)
    }
  }
}

function script ({ messages }: ModelRequest, n: number): ScriptStep[] {
  const last = messages.at(-1)
  if (last?.role === 'tool') return [{ type: 'reasoning-delta', delta: 'So.' }, `${n} answered`]
  const [word, twice] = (last?.role === 'user' ? last.content : '').split(' ')
  switch (word) {
    case 'roll': return [`rolling ${n}`, ...toolCall('call-r', 'roll')]
    case 'ask': return [`asking ${n}`, ...toolCall('call-a', 'ask'), ...(twice === 'twice' ? toolCall('call-b', 'ask') : [])]
    case 'fail': return [`begun ${n}`, { throw: new Error('no') }]
    case 'hang': return [`begun ${n}`, { hang: true }]
    default: return ['said ', `${n}`]
  }
}

function waitingCalls ({ messages }: Chat): string[] {
  return (messages.at(-1)?.parts ?? []).filter(({ state }) => state === 'input-available').map(({ toolCallId }) => String(toolCallId))
}

function lastQuestion ({ messages }: Chat): string {
  return textsOf(messages.filter(({ role }) => role === 'user')).at(-1) ?? ''
}

function shownQuestions ({ messages }: Chat): string[] {
  return textsOf(messages.filter(({ role }) => role === 'user'))
}

function userTexts (messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => message.role === 'user' ? [message.content] : [])
}

/** Calls without a result right after them, and results without a call. */
function unpaired ({ messages }: ModelRequest): string[] {
  const open = new Set<string>()
  const faults: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.callId)) faults.push(`result of ${message.callId}`)
      continue
    }
    faults.push(...open)
    open.clear()
    if (message.role === 'assistant') for (const { callId } of message.toolCalls) open.add(callId)
  }
  return [...faults, ...open]
}

async function stop ({ url }: TestApp, threadId: string): Promise<void> {
  await fetch(`${url}/v1/threads/${threadId}/stop`, { method: 'POST' })
}
