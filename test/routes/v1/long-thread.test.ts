import t from 'tap'
import { noUsage } from '../../../src/events/usage.ts'
import { estimateInput } from '../../../src/models/estimate.ts'
import type { Model, ModelRequest } from '../../../src/models/model.ts'
import { getJson, post, startApp } from '../../helpers/app.ts'

t.test('a thread of 200 turns is three times the window of its model, and no request goes beyond it', async (t) => {
  const contextWindow = 2_500
  const requests: ModelRequest[] = []
  const model: Model = {
    id: 'test:small',
    contextWindow,
    async * generate (request) {
      const input = estimateInput(request)
      requests.push({ ...request, messages: [...request.messages] })
      yield [{ type: 'text-delta', delta: 'They talked of ships and harbours.' }]
      yield [{ type: 'usage', usage: { ...noUsage, input, output: 9 }, estimated: false }, { type: 'finish', reason: 'stop' }]
    }
  }
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', compaction: 'auto' }] })
  const thread = `${url}/v1/threads/long-thread`
  const question = (n: number) => `Question ${n}: what else is there to say of ships and harbours and of the people who work there?`
  for (let n = 0; n < 200; n++) {
    const { status } = await post(`${thread}/messages`, { text: question(n) })
    if (status !== 200) t.fail(`turn ${n}: ${status}`)
  }
  t.strictSame(requests.filter((request) => estimateInput(request) > contextWindow), [])
  const answers = requests.filter(({ messages }) => messages.at(-1)?.role === 'user' && /^Question \d+:/.test((messages.at(-1) as { content: string }).content))
  t.equal(answers.length, 200)
  t.ok(answers.every(({ messages: [first] }) => first?.role === 'user' && first.content === question(0)), 'what the thread began with is kept')
  t.ok(requests.length > 200, 'old turns were summed up')
  const { messageCount } = await getJson(thread)
  t.equal(messageCount, 400, 'and all of it is stored')
  const stored = Array.from({ length: 200 }, (_, n) => [{ role: 'user', content: question(n) } as const, { role: 'assistant', text: 'They talked of ships and harbours.', toolCalls: [] } as const]).flat()
  t.ok(estimateInput({ instructions: '', messages: stored, tools: [], toolChoice: 'none', settings: {} }) > 3 * contextWindow)
})
