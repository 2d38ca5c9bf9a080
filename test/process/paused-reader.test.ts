import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { delay } from '../../src/streams/abort.ts'
import { chunksOf, openStream, until, type OpenStream } from '../helpers/app.ts'
import { deployment, ensureBuilt, patienceMs, startService } from '../helpers/process.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'

t.setTimeout(300_000)
ensureBuilt()

const seconds = process.env.TEST_SLOW === '1' ? 20 : 5
const mayGrow = 32 * 1024 * 1024
const others = 200

t.test(`a reader that never reads its socket, of a model that never ends, costs ${mayGrow >> 20} MB at most, while ${others} chats finish`, async (t) => {
  const upstream = await startCasesUpstream(t)
  const cwd = await deployment(t, {
    'parley.config.json': JSON.stringify({
      providers: { cases: { baseURL: upstream.baseURL() } },
      agents: [{ key: 'endless', model: 'cases:S43', titleGeneration: false }, { key: 'talker', model: 'offline', titleGeneration: false }]
    })
  })
  const env = {
    // An answer of 22 words lasts as long as the measurement.
    OFFLINE_WORD_DELAY_MS: String(Math.round(seconds * 1_000 / 22)),
    // With room enough V8 leaves a hundred megabytes of garbage lying about before it looks: what is held is measured, and
    // a service that held more would not survive.
    NODE_OPTIONS: '--max-old-space-size=96'
  }
  const service = await startService(t, { cwd, env })
  await finished(t, await startChats(service.url, 'warm'))
  // A first endless answer, so that the memory any such answer takes is no growth of this one.
  const warmUp = pausedReader(t, service.url, 'warm-endless')
  await delay(3_000)
  await stop(service.url, 'warm-endless')
  warmUp.destroy()

  const before = await service.memory()
  const chats = await startChats(service.url, 'chat')
  pausedReader(t, service.url, 'endless-thread')
  let most = 0
  for (let elapsed = 0; elapsed < seconds * 1_000; elapsed += 250) {
    await delay(250)
    most = Math.max(most, await service.memory())
  }
  const grown = most - before
  t.comment(`grew by ${(grown / 1024 / 1024).toFixed(1)} MB from ${(before / 1024 / 1024).toFixed(1)} MB in ${seconds} s`)
  t.ok(grown < mayGrow, `${Math.round(grown / 1024)} kB`)
  await finished(t, chats)
  t.equal((await fetch(`${service.url}/health`)).status, 200)
})

async function startChats (url: string, name: string): Promise<OpenStream[]> {
  return await Promise.all(Array.from({ length: others }, (_, index) => openStream(`${url}/v1/threads/${name}-${String(index).padStart(4, '0')}/messages`, { agentId: 'talker', text: 'hello' })))
}

async function finished (t: Test, chats: readonly OpenStream[]): Promise<void> {
  const patience = new AbortController()
  await Promise.race([Promise.all(chats.map(({ ended }) => ended)), delay(2 * patienceMs, patience.signal)])
  patience.abort()
  t.equal(chats.filter((chat) => chatEnded(chat)).length, chats.length, 'all others finish')
}

function chatEnded (chat: OpenStream): boolean {
  return chat.body().endsWith('[DONE]\n\n') && chunksOf(chat.body()).at(-1)?.type === 'finish'
}

function pausedReader (t: Test, url: string, threadId: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {}) // the service may end the connection first
  t.teardown(() => { socket.destroy() })
  const body = JSON.stringify({ agentId: 'endless', text: 'go' })
  socket.write(`POST /v1/threads/${threadId}/messages HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  return socket
}

async function stop (url: string, threadId: string): Promise<void> {
  await until('the endless answer is stopped', async () => {
    const response = await fetch(`${url}/v1/threads/${threadId}/stop`, { method: 'POST' })
    return response.ok
  }, patienceMs)
}
