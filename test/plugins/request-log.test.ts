import t from 'tap'
import { openStream, post, startApp, until } from '../helpers/app.ts'
import { loggedService } from '../helpers/logged.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

t.test('each request is one line, with the status that its client got, and the run that it was shown', async (t) => {
  const { lines, log } = loggedService()
  const { url } = await startApp(t, { log, model: scriptedModel([['Hi'], ['Slow', { hang: true }]]) })
  const written = () => lines.filter(({ msg, url }) => /^request c/.test(msg) && !String(url).startsWith('/metrics'))

  const { headers } = await post(`${url}/v1/threads/thread-whole/messages`, { text: 'Hi' })
  await until('it is written', () => written().length === 1)

  const stream = await openStream(`${url}/v1/threads/thread-left/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Slow')
  stream.leave()
  await until('it is written', () => written().length === 2)

  const impatient = new AbortController()
  const answer = post(`${url}/v1/agents/tester/run`, { input: 'Hi' }, { signal: impatient.signal })
  await until('it runs', async () => (await (await fetch(`${url}/metrics`)).text()).includes('parley_runs_running 2'))
  impatient.abort()
  await t.rejects(answer)
  await until('it is written', () => written().length === 3)

  const [whole, left, unanswered] = written()
  t.match(whole, { msg: 'request completed', statusCode: 200, runId: headers.get('x-run-id'), threadId: 'thread-whole' })
  t.match(left, { msg: 'request cut short', statusCode: 200, runId: stream.headers.get('x-run-id'), threadId: 'thread-left' })
  t.match(unanswered, { msg: 'request cut short', url: '/v1/agents/tester/run' })
  t.equal(unanswered?.['statusCode'], undefined)
})
