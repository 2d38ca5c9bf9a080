import t from 'tap'
import { getJson, openStream, post, textIn, until } from '../helpers/app.ts'
import { availableProviders, testDatabaseUrl } from '../helpers/databases.ts'
import { deployment, ensureBuilt, patienceMs, startService } from '../helpers/process.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { oneAgent, slowProvider, wordOf } from './provider.ts'

t.setTimeout(300_000)
ensureBuilt()

// A quarter of a second of text may be lost; the rest is what a busy machine of two cores may be late.
const lostAtMostMs = 250 + 250

for (const { provider: database, skip } of await availableProviders()) {
  t.test(`kill -9 in mid-answer loses at most a moment of text, and the thread goes on (${database})`, { skip }, async (t) => {
    const provider = await slowProvider(t)
    const options = { cwd: await deployment(t, oneAgent), env: { ...provider.env, DATABASE_URL: await testDatabaseUrl(t, database) } }
    const first = await startService(t, options)
    const askedAt = Date.now()
    const stream = await openStream(`${first.url}/v1/threads/crashed-thread/messages`, { text: 'a long one' })
    await until('much has been said', () => stream.text().length > 1_500, patienceMs)
    const killedAt = Date.now()
    first.kill('SIGKILL')
    t.match(await first.exited, { signal: 'SIGKILL' })
    t.match(await stream.ended, { cut: true }, 'the client sees that the stream was cut')

    const second = await startService(t, options)
    const { items: [question, answer] } = await getJson(`${second.url}/v1/threads/crashed-thread/messages`)
    t.match(question, { role: 'user', parts: [{ type: 'text', text: 'a long one' }] })
    t.match(answer, { role: 'assistant', metadata: { status: 'interrupted' } })
    t.ok(answer.metadata.processingMs > 100 && answer.metadata.processingMs <= killedAt - askedAt, 'it took as long as is known of it')
    t.match(answer.parts.at(-1), { type: 'data-error', data: { code: 'shutting_down', retryable: true, ref: /^[0-9a-f]{8}$/ } })
    const saved: string = answer.parts.find((part: { type: string }) => part.type === 'text').text
    t.equal(answer.parts.find((part: { type: string }) => part.type === 'text').state, 'done')
    const words = saved.trim().split(' ')
    t.equal(saved, words.map((_, index) => wordOf(index)).join(''), 'a beginning of what was said, without holes')
    const firstLost = provider.sentAt[words.length]
    if (firstLost !== undefined) t.ok(killedAt - firstLost <= lostAtMostMs, `lost ${killedAt - firstLost} ms of text`)

    const next = await post(`${second.url}/v1/threads/crashed-thread/messages`, { text: 'and now?' })
    t.equal(textIn(next), 'short answer')
    t.equal((await getJson(`${second.url}/v1/threads/crashed-thread/messages`)).items.length, 4)
  })
}

t.test('SIGKILL during a tool leaves a history that a strict provider takes', async (t) => {
  const upstream = await startCasesUpstream(t)
  const cwd = await deployment(t, {
    'parley.config.mjs': `
      import { defineTool } from 'parley'
      const slow = defineTool({ name: 'slow', execute: () => new Promise((resolve) => { setTimeout(resolve, 30000) }) })
      export default { agents: [{ key: 'tester', tools: [slow], titleGeneration: false }] }`
  })
  const options = { cwd, env: { OPENAI_BASE_URL: upstream.baseURL('M05'), OPENAI_API_KEY: 'test-key' } }
  const first = await startService(t, options)
  const stream = await openStream(`${first.url}/v1/threads/tool-thread/messages`, { text: 'use it' })
  await until('the tool is called', () => stream.body().includes('tool-input-available'), patienceMs)
  await until('the call is stored', async () => JSON.stringify(await getJson(`${first.url}/v1/threads/tool-thread/messages?include=streaming`)).includes('input-available'), patienceMs)
  first.kill('SIGKILL')
  await first.exited

  const second = await startService(t, options)
  const next = await openStream(`${second.url}/v1/threads/tool-thread/messages`, { text: 'again' })
  t.equal(next.status, 200)
  await until('the provider is asked again', async () => (await upstream.log()).length === 2, patienceMs)
  const [, asked] = await upstream.log()
  t.equal(asked?.historyError, undefined)
  t.match(asked?.body.messages, [{ role: 'system' }, { role: 'user' }, { role: 'assistant', tool_calls: [{}] }, { role: 'tool', content: /interrupted/ }, { role: 'user', content: 'again' }])
  next.leave()
})
