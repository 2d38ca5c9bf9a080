import t from 'tap'
import { z } from 'zod'
import { AppError, RunStopped } from '../../../src/errors.ts'
import { delay } from '../../../src/streams/abort.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const input = z.object({ ms: z.number() })
const ask = defineTool({ name: 'ask', description: 'Asks the user', input: z.object({ q: z.string() }) })

t.test('four calls of a batch run at a time; results reach the user as they come and the model in call order', async (t) => {
  let running = 0
  let most = 0
  const wait = defineTool({
    name: 'wait',
    input,
    execute: async ({ ms }) => {
      most = Math.max(most, ++running)
      await delay(ms)
      running--
      return ms
    }
  })
  const times = [60, 10, 40, 20, 1, 5]
  const model = scriptedModel([times.flatMap((ms, index) => toolCall(`c${index}`, 'wait', { ms })), ['Done.']])
  const { of } = await run(t, { model, agent: { tools: [wait] } })
  t.equal(most, 4)
  t.not(of('tool-output')[0]?.callId, 'c0')
  t.equal(of('tool-output').length, 6)
  t.strictSame(model.requests[1]?.messages.flatMap((message) => message.role === 'tool' ? [message.content] : []), times.map(String))

  most = 0
  await run(t, { model: scriptedModel([times.flatMap((ms, index) => toolCall(`c${index}`, 'wait', { ms })), ['Done.']]), agent: { tools: [wait], toolConcurrency: 1 } })
  t.equal(most, 1)
})

const refused = [
  { name: 'an unknown tool', call: toolCall('c1', 'nope', {}), message: /^No such tool "nope"\. Available: known\.$/, sent: '{}' },
  { name: 'invalid JSON', call: toolCall('c1', 'known', '{"n": 1 2}'), message: /must be one JSON object/, sent: '{}' },
  { name: 'JSON that is no object', call: toolCall('c1', 'known', '[1]'), message: /must be one JSON object/, sent: '{}' },
  { name: 'a wrong shape', call: toolCall('c1', 'known', { n: 'one' }), message: /do not fit: n: /, sent: '{"n":"one"}' },
  { name: 'a wrong whole', call: toolCall('c1', 'strict', { n: 1 }), message: /do not fit: not both/, sent: '{"n":1}' },
  { name: 'arguments that were cut off', call: [{ type: 'tool-call-start', callId: 'c1', toolName: 'known' }, { type: 'tool-call', callId: 'c1', toolName: 'known', arguments: '{"n":1}', complete: false }] as const, message: /cut off/, sent: '{"n":1}' }
]

for (const { name, call, message, sent } of refused) {
  t.test(`a call with ${name} is not run: the model is told and goes on`, async (t) => {
    let ran = 0
    const known = defineTool({ name: 'known', input: z.object({ n: z.number() }), execute: () => { ran++ } })
    const strict = defineTool({ name: 'strict', input: z.object({ n: z.number() }).refine(() => false, 'not both'), execute: () => { ran++ } })
    const model = scriptedModel([[...call], ['Recovered.']])
    const { of, text } = await run(t, { model, agent: { tools: name === 'a wrong whole' ? [known, strict] : [known] } })
    t.equal(ran, 0)
    t.match(of('tool-input-invalid'), [{ callId: 'c1', message }])
    t.match(model.requests[1]?.messages.slice(1), [{ toolCalls: [{ callId: 'c1', arguments: sent }] }, { role: 'tool', content: message }])
    t.equal(text, 'Recovered.')
  })
}

t.test('a key that would reach a prototype does not reach a tool', async (t) => {
  let got: unknown
  const open = defineTool({ name: 'open', input: { type: 'object' }, execute: (value) => { got = value } })
  await run(t, { model: scriptedModel([toolCall('c1', 'open', '{"__proto__":{"isAdmin":true},"text":"x"}'), ['Done.']]), agent: { tools: [open] } })
  t.strictSame(got, { text: 'x' })
})

t.test('a tool that takes too long fails, and what it says later is ignored', async (t) => {
  const late: string[] = []
  const slow = defineTool({
    name: 'slow',
    timeoutMs: 20,
    execute: async (_input, { signal, report }) => {
      await delay(1_000, signal)
      await delay(5)
      report('too late')
      late.push((signal.reason as AppError).code)
      throw new Error('too late')
    }
  })
  const model = scriptedModel([toolCall('c1', 'slow'), [{ waitMs: 30 }, 'Done.']])
  const { of, text } = await run(t, { model, agent: { tools: [slow] } })
  t.match(of('tool-error'), [{ code: 'tool_failed', message: /"slow" did not answer within 20 ms/ }])
  t.strictSame(of('progress'), [])
  t.strictSame(late, ['tool_failed'], 'it was told')
  t.equal(text, 'Done.')
})

t.test('a tool that fails says so in safe words; an error of ours says what it says', async (t) => {
  const broken = defineTool({ name: 'broken', execute: () => { throw new Error('password hunter2') } })
  const coded = defineTool({ name: 'coded', execute: async () => { throw new AppError('knowledge_unavailable', 'The shelf is closed.') } })
  const odd = defineTool({ name: 'odd', execute: () => Promise.reject('a string') }) // eslint-disable-line prefer-promise-reject-errors -- what tools of others do
  const model = scriptedModel([[...toolCall('c1', 'broken'), ...toolCall('c2', 'coded'), ...toolCall('c3', 'odd')], ['Done.']])
  const { events, of, log } = await run(t, { model, agent: { tools: [broken, coded, odd] } })
  const errors = new Map(of('tool-error').map((event) => [event.callId, event]))
  t.match(errors.get('c1'), { code: 'tool_failed', message: 'The tool "broken" failed.' })
  t.match(errors.get('c2'), { code: 'knowledge_unavailable', message: 'The shelf is closed.' })
  t.match(errors.get('c3'), { code: 'tool_failed' })
  t.notMatch(JSON.stringify([events, model.requests]), 'hunter2')
  t.match(log.filter(({ message }) => message === 'tool call failed').length, 3)
  t.match(model.requests[1]?.messages.at(-2), { content: 'Error (knowledge_unavailable): The shelf is closed.' })
})

t.test('a long result is cut for the model and whole for the user', async (t) => {
  const long = defineTool({ name: 'long', execute: () => 'x'.repeat(500) })
  const model = scriptedModel([toolCall('c1', 'long'), ['Done.']])
  const { of } = await run(t, { model, agent: { tools: [long] }, toolOutputLimit: 100 })
  t.equal((of('tool-output')[0]?.output as string).length, 500)
  const content = model.requests[1]?.messages.at(-1)?.role === 'tool' ? (model.requests[1].messages.at(-1) as { content: string }).content : ''
  t.match(content, /^x{100}\n\[Cut: 500 characters in all, the first 100 kept\]$/)
})

t.test('what JSON cannot hold arrives as something it can', async (t) => {
  const odd = defineTool({ name: 'odd', execute: () => ({ big: 1n, at: new Date(0), gone: undefined }) })
  const nothing = defineTool({ name: 'nothing', execute: () => {} })
  const { of } = await run(t, { model: scriptedModel([[...toolCall('c1', 'odd'), ...toolCall('c2', 'nothing')], ['Done.']]), agent: { tools: [odd, nothing] } })
  t.strictSame(of('tool-output').map(({ output }) => output), [{ big: '1', at: '1970-01-01T00:00:00.000Z' }, null])
})

t.test('a tool knows who asks and tells the user how far it is', async (t) => {
  let seen: unknown
  const tool = defineTool({
    name: 'tool',
    execute: async (_input, { report, signal, ...context }) => {
      seen = context
      report('half', 0.5)
      report('nearly')
      await delay(1, signal)
    }
  })
  const { of } = await run(t, { model: scriptedModel([toolCall('c1', 'tool'), ['Done.']]), agent: { tools: [tool] } })
  t.match(seen, { principal: { userId: 'alice' }, threadId: 'thread-1', runId: 'run-1', callId: 'c1', agentPath: [], metadata: { shop: 7 } })
  t.strictSame(of('progress'), [{ type: 'progress', callId: 'c1', message: 'half', fraction: 0.5 }, { type: 'progress', callId: 'c1', message: 'nearly' }])
})

t.test('a client tool suspends the run once the others of its batch are answered', async (t) => {
  const own = defineTool({ name: 'own', execute: () => 'ours' })
  const model = scriptedModel([['Wait.', ...toolCall('c1', 'ask', { q: '?' }), ...toolCall('c2', 'own'), ...toolCall('c3', 'nope')]])
  const { of, end } = await run(t, { model, agent: { tools: [ask, own] } })
  t.match(end, { type: 'run-suspended', pendingCalls: ['c1'], approvals: [] })
  t.match(of('tool-output'), [{ callId: 'c2' }])
  t.equal(of('message-end').length, 0)
  t.equal(model.requests.length, 1)
})

t.test('a client tool in a run that nobody can answer is refused and never hangs', async (t) => {
  const model = scriptedModel([toolCall('c1', 'ask', { q: '?' }), ['Without you then.']])
  const { of, text } = await run(t, { model, agent: { tools: [ask] }, input: { suspendsFor: 'nothing' } })
  t.match(of('tool-error'), [{ callId: 'c1', code: 'approval_unavailable' }])
  t.equal(text, 'Without you then.')
})

t.test('tools whose names providers refuse are offered and called under legal ones', async (t) => {
  const tool = defineTool({ name: 'shop.find order', execute: () => 'found' })
  const model = scriptedModel([toolCall('c1', 'shop_find_order'), ['Done.']])
  const { of } = await run(t, { model, agent: { tools: [tool], requiredTools: ['shop.find order'] } })
  t.match(model.requests[0]?.tools, [{ name: 'shop_find_order' }])
  t.match(of('tool-call-start'), [{ toolName: 'shop.find order' }])
  t.match(of('tool-input-complete'), [{ toolName: 'shop.find order' }])
  t.match(model.requests[1]?.messages.at(-1), { toolName: 'shop_find_order' })
})

t.test('a tool that stops the run from inside stops it', async (t) => {
  const tool = defineTool({ name: 'tool', execute: () => { throw new RunStopped('by a tool') } })
  t.match((await run(t, { model: scriptedModel([toolCall('c1', 'tool')]), agent: { tools: [tool] } })).end, { type: 'run-stopped', reason: 'by a tool' })
})
