import t, { type Test } from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { stepsAttributes } from '../../../src/agents/steps/define-steps-agent.ts'
import { recall, remember } from '../../../src/agents/steps/memory-steps.ts'
import type { Memory } from '../../../src/memories/memory.ts'
import { volatile } from '../../../src/memories/volatile.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { said } from '../../contracts/memory.ts'
import { getJson, openStream, post, startApp, textIn, until, userMessage } from '../../helpers/app.ts'
import { availableProviders, testDatabaseUrl, type TestProvider } from '../../helpers/databases.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { send } from '../request.ts'

const look = defineTool({ name: 'look', execute: () => 'saw it' })
const gated = defineTool({ name: 'gated', needsApproval: true, execute: () => 'allowed' })

for (const { provider, skip } of await availableProviders()) {
  t.test(provider, { skip }, async (t) => {
    t.test('the second turn sees exactly what was remembered, its calls too', async (t) => {
      const { ask, model } = await serve(t, { memory: 'database', tools: [look] }, [toolCall('c1', 'look'), ['A cat.'], ['Still a cat.']], provider)
      await ask('What is it?')
      await ask('And now?')
      t.match(model.requests[2]!.messages, [
        { role: 'user', content: 'What is it?' }, { role: 'assistant', text: '', toolCalls: [{ callId: 'c1', toolName: 'look' }] }, { role: 'tool', callId: 'c1', content: 'saw it' },
        { role: 'assistant', text: 'A cat.' }, { role: 'user', content: 'And now?' }
      ])
      t.equal(model.requests[2]!.messages.length, 5)
    })

    t.test('a turn that failed or was stopped is not remembered', async (t) => {
      const { url, messages, ask, model } = await serve(t, { memory: 'database' }, [['One.'], ['bro', { throw: new Error('away') }], ['halt', { hang: true }], ['Four.']], provider)
      await ask('first')
      await ask('fails')
      const stream = await openStream(messages, { text: 'stopped' })
      await until('the model speaks', () => stream.text() === 'halt')
      await send(url, 'POST', '/v1/threads/thread-one/stop')
      await stream.ended
      await ask('fourth')
      t.strictSame(said('first', 'One.', 'fourth'), model.requests.at(-1)?.messages)
    })

    t.test('where a question is edited, the other branch is recalled, and remembered from there on', async (t) => {
      const { messages, ask, model } = await serve(t, { memory: 'database' }, [['One.'], ['Two.'], ['Other.'], ['Three.']], provider)
      await ask('first')
      await ask('second')
      const { items } = await getJson(messages)
      await post(messages, { trigger: 'submit-message', messageId: items[2].id, messages: [userMessage('changed', items[2].id)] })
      t.strictSame(model.requests[2]?.messages, said('first', 'One.', 'changed'))
      await ask('third')
      t.strictSame(model.requests[3]?.messages, said('first', 'One.', 'changed', 'Other.', 'third'))
    })

    t.test('a deleted thread is forgotten', async (t) => {
      for (const memory of ['database', volatile()] as const) {
        const { url, ask, model } = await serve(t, { memory }, [['One.'], ['Two.'], ['Three.']], provider)
        await ask('first')
        await send(url, 'DELETE', '/v1/threads/thread-one')
        await ask('again')
        t.strictSame(model.requests[1]?.messages, said('again'))
        await send(url, 'DELETE', '/v1/threads')
        await ask('third')
        t.strictSame(model.requests[2]?.messages, said('third'))
      }
    })

    t.test('a run that goes on after an approval does not recall again, and is remembered whole', async (t) => {
      let recalls = 0
      const kept = volatile({ initial: said('before', 'Indeed.') })
      const memory: Memory = { ...kept, recall: (thread) => { recalls++; return kept.recall(thread) } }
      const { url, ask, model } = await serve(t, { memory, tools: [gated] }, [toolCall('c1', 'gated'), ['Done.'], ['Next.']], provider)
      await ask('go')
      const { items: [approval] } = await getJson(`${url}/v1/threads/thread-one/approvals`)
      await post(`${url}/v1/approvals/${approval.id}`, { approved: true })
      await until('it has gone on', async () => model.requests.length === 2 && (await fetch(`${url}/v1/threads/thread-one/stream`)).status === 204)
      t.match(model.requests[1]!.messages, [...said('before', 'Indeed.', 'go'), { toolCalls: [{ callId: 'c1' }] }, { content: 'allowed' }])
      await ask('more')
      t.match(model.requests[2]!.messages, [...said('before', 'Indeed.', 'go'), { toolCalls: [{ callId: 'c1' }] }, { content: 'allowed' }, { text: 'Done.' }, { content: 'more' }])
      t.ok(recalls <= 3, `${recalls}: once a turn, and once to see the version`)
    })
  })
}

t.test('a volatile memory keeps as many threads as it may', async (t) => {
  const { url, model } = await serve(t, { memory: volatile({ threadsLimit: 1, initial: said('start', 'Yes.') }) }, [['ok']])
  for (const [thread, text] of [['a', '1'], ['a', '2'], ['b', '3'], ['a', '4']] as const) await post(`${url}/v1/threads/thread-${thread}/messages`, { text })
  t.strictSame(model.requests[1]?.messages, said('start', 'Yes.', '1', 'ok', '2'))
  t.strictSame(model.requests[3]?.messages.at(-1), { role: 'user', content: '4' })
  t.notMatch(model.requests[3]?.messages, [{}, {}, { content: '1' }], 'it was forgotten')
})

t.test('a memory of one’s own brings tools for the turn, and what it gives is believed', async (t) => {
  const order: string[] = []
  const kept: unknown[] = []
  const memory: Memory = {
    prepare: (_thread, instructions) => {
      order.push(`prepare ${instructions}`)
      return [defineTool({ name: 'look', execute: () => 'from memory' })]
    },
    recall: () => {
      order.push('recall')
      return [...said('summary'), { role: 'assistant', text: '', toolCalls: [{ callId: 'x', toolName: 'gone', arguments: '{}' }] }, { role: 'tool', callId: 'x', toolName: 'gone', content: 'y' }]
    },
    remember: (_thread, messages) => { kept.push(messages) }
  }
  const { ask, model } = await serve(t, { memory, tools: [look], instructions: 'Be kind.' }, [toolCall('c1', 'look'), ['Well.']])
  await ask('now')
  t.strictSame(order.slice(0, 2), ['prepare Be kind.', 'recall'])
  t.strictSame(model.requests[0]?.messages.slice(0, 2), [...said('summary'), ...said('now')], 'calls of tools that are gone are dropped')
  t.strictSame(model.requests[0]?.tools.map(({ name }) => name), ['look'])
  t.match(model.requests[1]?.messages.at(-1), { role: 'tool', content: 'from memory' })
  t.match(kept, [[{ content: 'summary' }, { content: 'now' }, { toolCalls: [{}] }, { content: 'from memory' }, { text: 'Well.' }]])
})

t.test('a turn that could not be kept is told, and its answer stands', async (t) => {
  const { ask } = await serve(t, { memory: { recall: () => [], remember: () => false } }, [['Hello.']])
  const { chunks } = await ask('hi')
  t.match(chunks.find(({ type }) => type === 'data-unavailable'), { data: { stage: 'memory' }, transient: true })
  t.equal(textIn({ chunks }), 'Hello.')
})

t.test('steps recall and remember by themselves', async (t) => {
  const counter = stepsAttributes<{ known: number }>({
    key: 'tester', memory: 'database', initial: { known: 0 },
    steps: [recall((_state, messages) => ({ known: messages.length })), async function * ({ known }) { yield `knew ${known}` }, remember(() => said('one', 'two', 'three'))]
  })
  const { ask } = await serve(t, counter, [['never']])
  t.strictSame([textIn(await ask('a')), textIn(await ask('b'))], ['knew 0', 'knew 3'])
})

t.test('the memory of an agent of steps is not prepared', async (t) => {
  const asked: string[] = []
  const memory: Memory = { prepare: () => { asked.push('prepare'); return [] }, recall: () => { asked.push('recall'); return [] }, remember: () => { asked.push('remember') } }
  const steps = stepsAttributes<{ known: number }>({ key: 'tester', memory, initial: { known: 0 }, steps: [recall((_state, messages) => ({ known: messages.length })), remember(() => said('x')), async function * () { yield 'Done.' }] })
  const { ask } = await serve(t, steps, [['never']])
  t.equal(textIn(await ask('a')), 'Done.')
  t.strictSame(asked, ['recall', 'remember'])
})

async function serve (t: Test, agent: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]>, provider?: TestProvider) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', ...agent }], databaseUrl: await testDatabaseUrl(t, provider) })
  const messages = `${url}/v1/threads/thread-one/messages`
  return { url, messages, model, ask: (text: string) => post(messages, { text }) }
}
