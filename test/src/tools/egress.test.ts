import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { isAppError } from '../../../src/errors.ts'
import { createEgress, type EgressOptions, type Resolve } from '../../../src/tools/egress.ts'

t.test('what is at this machine is refused, however it is written', async (t) => {
  const { port, heard } = await startServer(t)
  const egress = open(t)
  for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0.0.0.0', '[::]']) {
    const reason = await refusalOf(egress.fetch(`http://${host}:${port}/`))
    t.match(reason, { code: 'configuration_error', message: /^The host ".+" is at an address that this service may not reach\.$/ }, host)
    t.notMatch(reason?.message.replace(/"[^"]*"/, ''), /127|::1/, 'the address is for the log')
  }
  t.equal(heard.length, 0)
})

const allowed = [
  { entry: 'the address', allow: () => ['127.0.0.1'], host: '127.0.0.1' },
  { entry: 'the address with its port', allow: (port: number) => [`127.0.0.1:${port}`], host: '127.0.0.1' },
  { entry: 'its network', allow: () => ['10.0.0.0/8', '127.0.0.0/8'], host: '127.0.0.1' },
  { entry: 'the host', allow: () => ['Tools.Internal'], host: 'tools.internal' },
  { entry: 'the host with its port', allow: (port: number) => [`tools.internal:${port}`], host: 'TOOLS.internal.' },
  { entry: 'the address of the host', allow: () => ['127.0.0.1'], host: 'tools.internal' },
  { entry: 'the address of the host with its port', allow: (port: number) => [`127.0.0.1:${port}`], host: 'tools.internal' }
]

for (const { entry, allow, host } of allowed) {
  t.test(`an address that is not public is reached where ${entry} is allowed`, async (t) => {
    const { port } = await startServer(t)
    const egress = open(t, { allow: allow(port), resolve: resolveTo('127.0.0.1') })
    const answer = await egress.fetch(`http://${host}:${port}/hello`)
    t.equal(await answer.text(), 'hello')
  })
}

t.test('what is allowed is allowed for its port alone', async (t) => {
  const { port } = await startServer(t)
  for (const entry of [`127.0.0.1:${port + 1}`, `tools.internal:${port + 1}`, 'other.internal', '10.0.0.0/8']) {
    t.ok(await refusalOf(open(t, { allow: [entry], resolve: resolveTo('127.0.0.1') }).fetch(`http://tools.internal:${port}/`)), entry)
  }
})

t.test('a redirect to an address that is not allowed is refused, and a followed one within them is not', async (t) => {
  const inner = await startServer(t)
  const outer = await startServer(t, (request, response) => {
    if (request.url === '/same') response.end('same')
    else response.writeHead(307, { location: request.url === '/to-self' ? '/same' : `http://127.0.0.1:${inner.port}/secret` }).end()
  })
  const egress = open(t, { allow: [`127.0.0.1:${outer.port}`] })
  t.equal(await (await egress.fetch(`http://127.0.0.1:${outer.port}/to-self`)).text(), 'same')
  t.ok(await refusalOf(egress.fetch(`http://127.0.0.1:${outer.port}/to-inner`)))
  t.equal(inner.heard.length, 0)
})

t.test('a name is refused when one of its addresses is, and when it is not the first', async (t) => {
  const { port, heard } = await startServer(t)
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['fe80::1%lo'], ['169.254.169.254']]) {
    t.ok(await refusalOf(open(t, { resolve: resolveTo(...addresses) }).fetch(`http://rebind.example:${port}/`)), addresses.join())
  }
  t.equal(heard.length, 0)
})

t.test('a name that changes its mind is connected to as it was when it was judged, or not at all', async (t) => {
  const { port, heard } = await startServer(t)
  let asked = 0
  // Refused from the second answer on; the first is the one that is connected to.
  const resolve: Resolve = (_host, _options, callback) => { callback(null, [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]) }
  const egress = open(t, { allow: ['127.0.0.1'], resolve })
  await (await egress.fetch(`http://rebind.example:${port}/`)).text()
  t.equal(asked, 1, 'nothing is resolved a second time for one connection')
  heard.splice(0)[0]?.socket.destroy()
  t.ok(await refusalOf(egress.fetch(`http://rebind.example:${port}/`).then(() => egress.fetch(`http://rebind.example:${port}/`))))
  t.equal(asked, 2)
  t.equal(heard.length, 0)
})

t.test('a name that cannot be resolved fails as such', async (t) => {
  const resolve: Resolve = (_host, _options, callback) => { callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []) }
  const error = await open(t, { resolve }).fetch('http://nowhere.example/').catch((reason: unknown) => reason)
  t.match(error, { cause: { code: 'ENOTFOUND' } })
})

t.test('whether a URL can be reached is told without a network where its host is an address or this machine', async (t) => {
  const egress = createEgress({ allow: ['10.1.0.0/16', 'localhost:8931', '[::1]:8931'], resolve: () => { t.fail('nothing is resolved') } })
  const cases = [
    ['https://example.com/mcp', true], ['http://tools.internal/', true], ['http://8.8.8.8/', true], ['http://10.1.2.3/', true], ['http://localhost:8931/mcp', true], ['http://[::1]:8931/', true],
    ['http://10.2.0.1/', false], ['http://localhost/', false], ['http://LOCALHOST./', false], ['https://localhost:8932/', false], ['http://127.0.0.1:8931/', false], ['http://[::1]/', false], ['http://2130706433/', false]
  ] as const
  for (const [url, expected] of cases) t.equal(egress.mayReach(new URL(url)), expected, url)
})

function open (t: Test, options: EgressOptions = {}) {
  const egress = createEgress(options)
  t.teardown(() => egress.close())
  return egress
}

function resolveTo (...addresses: string[]): Resolve {
  return (_host, _options, callback) => { callback(null, addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))) }
}

/** The refusal in the chain of causes. */
async function refusalOf (fetched: Promise<unknown>) {
  let error: unknown = await fetched.then(() => undefined, (reason: unknown) => reason)
  while (error instanceof Error && !isAppError(error)) error = error.cause
  return isAppError(error) ? error : undefined
}

async function startServer (t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => { response.end('hello') }) {
  const heard: IncomingMessage[] = []
  const server = createServer((request, response) => {
    heard.push(request)
    answer(request, response)
  })
  t.teardown(() => { server.closeAllConnections(); server.close() })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { port: (server.address() as AddressInfo).port, heard }
}
