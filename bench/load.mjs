// The load generator, a process of its own: takes one job as a message, answers with what it measured.
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const agent = new Agent({ keepAlive: true, maxSockets: 10_000 })
const jobs = { chats, hold, pages }

process.on('message', async ({ job, options }) => {
  try {
    process.send({ result: await jobs[job](options) })
  } catch (error) {
    process.send({ error: String(error) })
  }
})

/**
 * `total` chats, `concurrent` at a time with the agents in turn, the first of them begun over `spreadMs`: milliseconds to
 * the first delta of each, and how many deltas came.
 */
async function chats ({ url, model, agentId, agentIds = [agentId], concurrent, total, turnsPerThread = 1, spreadMs = 0, text = 'Say something.' }) {
  const firstMs = []
  let deltas = 0
  let next = 0
  const started = performance.now()
  await Promise.all(Array.from({ length: concurrent }, async (_, lane) => {
    if (spreadMs > 0) await sleep(spreadMs * lane / concurrent)
    for (let index = next++; index < total; index = next++) {
      const id = `bench-${process.pid}-${lane}-${Math.floor(index / turnsPerThread)}-${started.toFixed(0)}`
      const chat = await stream(url, { id, agentId: agentIds[index % agentIds.length], model, trigger: 'submit-message', messages: [{ role: 'user', parts: [{ type: 'text', text }] }] })
      firstMs.push(chat.firstMs)
      deltas += chat.deltas
    }
  }))
  return { firstMs, deltas, seconds: (performance.now() - started) / 1000 }
}

function stream (url, body, onOpen) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    let firstMs
    let deltas = 0
    let tail = ''
    const outgoing = httpRequest(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (response) => {
      response.setEncoding('latin1')
      response.on('data', (piece) => {
        const found = count(tail + piece, '"text-delta"')
        if (found > 0 && firstMs === undefined) firstMs = performance.now() - started
        deltas += found
        tail = piece.slice(-11)
        onOpen?.()
      })
      response.on('end', () => {
        if (response.statusCode !== 200 || firstMs === undefined) reject(new Error(`status ${response.statusCode}: ${tail}`))
        else resolve({ firstMs, deltas })
      })
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify(body))
  })
}

/** Keeps `count` streams open; answers once all have begun and `settleMs` have passed. They end with this process. */
async function hold ({ url, model, agentId, count: streams, settleMs }) {
  const begun = { open: 0 }
  for (let index = 0; index < streams; index++) {
    let seen = false
    void stream(url, { id: `bench-open-${process.pid}-${index}`, agentId, model, trigger: 'submit-message', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Wait.' }] }] }, () => {
      if (!seen) begun.open++
      seen = true
    }).catch(() => {})
    if (index % 25 === 24) await sleep(25)
  }
  for (let waited = 0; begun.open < streams && waited < 20_000; waited += 50) await sleep(50)
  await sleep(settleMs)
  return begun
}

/** Reads the same URL for `seconds`, `concurrent` at a time. */
async function pages ({ url, concurrent, seconds }) {
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  let read = 0
  await Promise.all(Array.from({ length: concurrent }, async () => {
    while (performance.now() < until) {
      await get(url)
      read++
    }
  }))
  return { read, seconds: (performance.now() - started) / 1000 }
}

function get (url) {
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent }, (response) => {
      response.resume()
      response.on('end', () => { response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`)) })
    }).on('error', reject).end()
  })
}

function count (text, what) {
  let found = 0
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + what.length)) found++
  return found
}
