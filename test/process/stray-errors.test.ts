import t from 'tap'
import { getJson, post, textIn, until } from '../helpers/app.ts'
import { deployment, ensureBuilt, patienceMs, startService } from '../helpers/process.ts'

t.setTimeout(120_000)
ensureBuilt()

const forgetful = {
  'parley.config.mjs': `
    import { defineTool } from 'parley'
    const later = (name, work) => defineTool({ name, execute: () => { setTimeout(work, 20); return 'done' } })
    const tools = [later('forget', () => { Promise.reject(new Error('forgotten')) }), later('throw_late', () => { throw new Error('too late') })]
    export default { agents: [{ key: 'tester', tools, titleGeneration: false }] }`
}
const env = { OFFLINE_WORD_DELAY_MS: '0' }

t.test('a promise that a tool forgot is logged, and everybody goes on', async (t) => {
  const service = await startService(t, { cwd: await deployment(t, forgetful), env })
  await post(`${service.url}/v1/threads/forgetful-thread/messages`, { text: 'Call forget' })
  await until('it is logged', () => service.log.some(({ level, msg = '' }) => level === 50 && msg.includes('nobody waited for')), patienceMs)
  t.match(await getJson(`${service.url}/health`), { status: 'ok' })
  t.ok(textIn(await post(`${service.url}/v1/threads/forgetful-thread/messages`, { text: 'Hello' })))
})

t.test('what a tool throws where nobody can catch it ends the process with a line in the log', async (t) => {
  const service = await startService(t, { cwd: await deployment(t, forgetful), env })
  await post(`${service.url}/v1/threads/throwing-thread/messages`, { text: 'Call throw_late' }).catch(() => {})
  t.match(await service.exited, { code: 1 })
  await until('it is logged', () => service.log.some(({ level }) => level === 60), patienceMs)
  t.match(service.log.find(({ level }) => level === 60), { err: { message: 'too late' } })
})
