import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { startApp, until } from '../helpers/app.ts'
import { loggedService } from '../helpers/logged.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

t.test('answers that wait for others of their connection end with it', async (t) => {
  const { lines, log } = loggedService()
  const { url } = await startApp(t, { log, model: scriptedModel([['Slow', { hang: true }]]) })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  for (let index = 0; index < 20; index++) socket.write(request(`/v1/threads/thread-${String(index).padStart(4, '0')}/messages`))
  await until('all are open', async () => await openStreams(url) === 20)
  socket.destroy()
  await once(socket, 'close')
  await until('none is open', async () => await openStreams(url) === 0)
  t.equal(lines.filter(({ msg, url }) => msg === 'request cut short' && String(url).endsWith('/messages')).length, 20)
  t.strictSame(warnings, [])
})

t.test('requests that were sent at once are answered one after the other', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['One'], ['Two']]) })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let heard = ''
  socket.setEncoding('utf8').on('data', (text: string) => { heard += text })
  for (const name of ['first', 'second']) socket.write(request(`/v1/threads/thread-${name}/messages?protocol=text`))
  socket.write('GET /health HTTP/1.1\r\nhost: here\r\n\r\n')
  await until('the last is there', () => heard.endsWith('{"status":"ok"}'))
  t.equal(heard.split('HTTP/1.1 200').length - 1, 3)
  t.match(heard, /thread-first[^]+thread-second/)
  await until('none is open', async () => await openStreams(url) === 0)
})

function request (path: string): string {
  const body = '{"text":"Hi"}'
  return `POST ${path} HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

async function openStreams (url: string): Promise<number> {
  return Number(/^parley_open_streams (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])
}
