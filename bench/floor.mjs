// The floor the service is measured against: node:http, reads the provider's events, writes chat chunks. No framework,
// no checks, no persistence, no resume.
import { Agent, createServer, request as httpRequest } from 'node:http'

const upstream = new URL(process.env.UPSTREAM_URL)
const agent = new Agent({ keepAlive: true, maxSockets: 10_000 })
const write = (response, chunk) => response.write(`data: ${JSON.stringify(chunk)}\n\n`)

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { model, messages } = JSON.parse(body)
  const text = messages.at(-1).parts[0].text
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  write(response, { type: 'start', messageId: 'm' })
  write(response, { type: 'start-step' })
  write(response, { type: 'text-start', id: 't' })

  const outgoing = httpRequest({ host: upstream.hostname, port: upstream.port, path: '/v1/chat/completions', method: 'POST', agent, headers: { 'content-type': 'application/json' } }, async (incoming) => {
    incoming.setEncoding('utf8')
    let rest = ''
    for await (const piece of incoming) {
      const events = (rest + piece).split('\n\n')
      rest = events.pop()
      for (const event of events) {
        const data = event.slice(6)
        if (data === '[DONE]') continue
        const delta = JSON.parse(data).choices[0]?.delta.content
        if (delta) write(response, { type: 'text-delta', id: 't', delta })
      }
    }
    write(response, { type: 'text-end', id: 't' })
    write(response, { type: 'finish-step' })
    write(response, { type: 'finish' })
    response.end('data: [DONE]\n\n')
  })
  outgoing.end(JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: text }] }))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => { process.send?.({ port: server.address().port }) })
