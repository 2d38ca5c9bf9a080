import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, openStream, post, startApp, until, userMessage } from '../../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'

const delayMs = 40

t.test('how long an answer took is told at its end, when it is told again, and in history', async (t) => {
  const { ask, stored, told } = await serve(t, [[{ waitMs: delayMs }, 'Hello.']])
  const live = told(await ask({ message: userMessage('Hi', 'question-1') }))
  t.ok(live >= delayMs && live < 5_000 && Number.isInteger(live), `${live} ms`)
  t.equal(await stored(), live)
  t.equal(told(await ask({ message: userMessage('Hi', 'question-1') })), live, 'the same question again')
})

t.test('the legs of an answer count together, and the time between them does not', async (t) => {
  const betweenMs = 1_500
  const { ask, stored, told, url } = await serve(t, [[{ waitMs: delayMs }, ...toolCall('c1', 'place')], [{ waitMs: delayMs }, 'Here.']])
  const first = told(await ask({ text: 'Where?' }))
  t.equal(await stored(), first)
  await sleep(betweenMs)
  const parts = [{ type: 'tool-place', toolCallId: 'c1', state: 'output-available', input: {}, output: 'Ghent' }]
  const message = { id: (await answerOf(url)).id, role: 'assistant', parts }
  const whole = told(await post(`${url}/v1/threads/timed-thread/messages`, { message }))
  t.ok(whole >= first + delayMs && whole < betweenMs, `${first}, then ${whole} ms`)
  t.equal(await stored(), whole)
})

t.test('an answer that failed or was stopped took its time too', async (t) => {
  const failing = await serve(t, [[{ waitMs: delayMs }, 'Half', { throw: new Error('Broken.') }]])
  const failed = failing.told(await failing.ask({ text: 'Hi' }))
  t.ok(failed >= delayMs)
  t.equal(await failing.stored(), failed)

  const hanging = await serve(t, [[{ waitMs: delayMs }, 'Half', { hang: true }]])
  const stream = await openStream(`${hanging.url}/v1/threads/timed-thread/messages`, { text: 'Hi' })
  await until('something was said', () => stream.text() === 'Half')
  await post(`${hanging.url}/v1/threads/timed-thread/stop`, {})
  await stream.ended
  t.match((await answerOf(hanging.url)).metadata, { status: 'stopped', processingMs: Number })
  t.ok(await hanging.stored() >= delayMs)
  t.match(stream.body(), `"processingMs":${await hanging.stored()}`)
})

t.test('an answer that is not kept took its time too', async (t) => {
  const { url, told } = await serve(t, [[{ waitMs: delayMs }, 'Hello.']])
  t.ok(told(await post(`${url}/api/chat`, { messages: [userMessage('Hi', 'question-1')] })) >= delayMs)
})

async function serve (t: Test, responses: ReadonlyArray<readonly ScriptStep[]>) {
  const { url } = await startApp(t, { model: scriptedModel(responses), agents: [{ key: 'tester', tools: [defineTool({ name: 'place' })] }] })
  return {
    url,
    ask: (body: object) => post(`${url}/v1/threads/timed-thread/messages`, body),
    stored: async () => Number((await answerOf(url)).metadata['processingMs']),
    told: ({ chunks }: Awaited<ReturnType<typeof post>>) => Number((chunks.at(-1)?.['messageMetadata'] as { processingMs?: number } | undefined)?.processingMs)
  }
}

async function answerOf (url: string) {
  return (await getJson(`${url}/v1/threads/timed-thread/messages`) as { items: Array<{ id: string, metadata: Record<string, unknown> }> }).items.at(-1)!
}
