import { once } from 'node:events'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { newKey } from '../../../src/auth/new-key.ts'
import { getJson, post, startApp, until } from '../../helpers/app.ts'
import { availableProviders } from '../../helpers/databases.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { fixture, fixtureFile, startUploadService, textFile, uploaded } from '../../helpers/uploads.ts'

const filePart = (url: string, extra: object = {}) => ({ type: 'file', mediaType: 'text/plain', url, ...extra })
const say = (...parts: readonly object[]) => ({ message: { role: 'user', parts } })

for (const { provider, skip } of await availableProviders()) {
  t.test(`files are listed by pages, shown, removed with their bytes, and refused twice, on ${provider}`, { skip }, async (t) => {
    const service = await startUploadService(t, { provider })
    const threadId = await service.newThread()
    const names = ['a.txt', 'b.txt', 'c.txt']
    for (const name of names) await uploaded(service, threadId, textFile(name, name))
    const path = `/v1/threads/${threadId}/files`
    const first = (await service.request('GET', `${path}?limit=2`)).json
    const second = (await service.request('GET', `${path}?limit=2&cursor=${first.nextCursor}`)).json
    t.strictSame([...first.items, ...second.items].map(({ name }: { name: string }) => name), ['c.txt', 'b.txt', 'a.txt'])
    t.equal(second.nextCursor, null)
    t.match(await service.request('GET', `${path}?cursor=zzz`), { status: 400 })

    const [{ id }] = first.items
    t.match(await service.upload(threadId, textFile('again.txt', 'c.txt')), { status: 409, json: { code: 'conflict', details: { existingId: id } } })
    t.match((await service.upload(threadId, textFile('again.txt', 'c.txt'), textFile('new.txt', 'new'))).json.items, [{ status: 'refused', existingId: id }, { name: 'new.txt' }])
    t.equal((await service.upload(await service.newThread(), textFile('c.txt', 'c.txt'))).status, 202, 'another thread may have it')

    t.equal((await service.request('DELETE', `${path}/${id}`)).status, 204)
    t.equal((await service.request('DELETE', `${path}/${id}`)).status, 404)
    t.equal((await service.request('GET', `${path}/${id}/content`)).status, 404)
    await service.request('DELETE', `/v1/threads/${threadId}`)
    await until('bytes are gone with their thread', async () => (await service.stored()).length <= 2)
    await service.request('DELETE', '/v1/threads')
    await until('no bytes are left', async () => (await service.stored()).length === 0)
  })

  t.test(`20 uploads at once are all kept, and the same file 10 times at once is kept once, on ${provider}`, { skip }, async (t) => {
    const service = await startUploadService(t, { provider })
    const threadId = await service.newThread()
    const different = await Promise.all(Array.from({ length: 20 }, (_, index) => service.upload(threadId, textFile(`${index}.txt`, `number ${index}`))))
    t.strictSame(different.map(({ status }) => status), Array(20).fill(202))
    const same = await Promise.all(Array.from({ length: 10 }, () => service.upload(threadId, textFile('same.txt', 'the same'))))
    t.strictSame(same.map(({ status }) => status).sort(), [202, ...Array(9).fill(409)])
    await until('all are read', async () => (await getJson(`${service.url}/v1/threads/${threadId}/files`)).items.every(({ status }: { status: string }) => status === 'completed'), 15_000)
    t.equal((await service.stored()).length, 42, 'the bytes and the text of each')
  })
}

t.test('only an agent that takes files gets some, in a thread that is there', async (t) => {
  const service = await startUploadService(t, { agents: [{ key: 'reader', fileUpload: true }, { key: 'talker' }] })
  t.match(await service.upload(await service.newThread('talker'), textFile('a.txt', 'a')), { status: 403, json: { code: 'permission_denied' } })
  t.match(await service.upload('no-such-thread', textFile('a.txt', 'a')), { status: 404 })
  const threadId = await service.newThread('reader')
  t.match(await service.request('POST', `/v1/threads/${threadId}/files`, { file: 'a' }), { status: 400, json: { code: 'invalid_request' } })
  t.match(await service.uploadRaw(threadId, Buffer.from('--bnd--\r\n')), { status: 400 })
  t.match(await service.uploadRaw(threadId, Buffer.from('--bnd\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\ncut off')), { status: 400 })
  t.strictSame(await service.stored(), [])
  t.match((await service.request('GET', '/v1/agents')).json.items, [{ fileUpload: true, vision: false }, { fileUpload: false }])
})

t.test('the limits that are enforced are the ones that are published', async (t) => {
  const service = await startUploadService(t, { env: { MAX_UPLOAD_BYTES: '1000', MAX_UPLOAD_FILES: '3', ALLOWED_FILES: 'txt,.PNG' } })
  t.strictSame((await service.request('GET', '/v1/uploads/settings')).json, { maxBytes: 1000, maxFiles: 3, extensions: ['txt', 'text', 'png'], mediaTypes: ['text/plain', 'image/png'] })
  t.match(await service.upload(await service.newThread(), textFile('a.csv', 'a,b')), { status: 415, json: { message: /Accepted are txt, text, png\./ } })
  await t.rejects(startUploadService(t, { env: { ALLOWED_FILES: 'txt,docx' } }), { code: 'configuration_error', message: /ALLOWED_FILES: "docx"/ })
})

t.test('a body that does not end is refused while it comes', async (t) => {
  const service = await startUploadService(t, { env: { MAX_UPLOAD_BYTES: '1000', MAX_UPLOAD_FILES: '1' } })
  const threadId = await service.newThread()
  const body = async function * () {
    yield Buffer.from('--bnd\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
    for (let sent = 0; sent < 15; sent++) yield Buffer.alloc(100_000, 'x')
  }
  const response = await fetch(`${service.url}/v1/threads/${threadId}/files`, { method: 'POST', body: body(), duplex: 'half', headers: { 'content-type': 'multipart/form-data; boundary=bnd' } } as RequestInit) // Node's own option
  t.match({ status: response.status, json: await response.json() }, { status: 413, json: { code: 'payload_too_large' } })
  t.match(await service.upload(threadId, new File([Buffer.alloc(1_200_000, 'x')], 'a.txt')), { status: 413 })
  t.strictSame(await service.stored(), [])
})

t.test('a sender that leaves in the middle of an upload leaves nothing behind', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const { port } = new URL(service.url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`POST /v1/threads/${threadId}/files HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=bnd\r\nContent-Length: 5000000\r\n\r\n--bnd\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n${'x'.repeat(200_000)}`)
  await until('the bytes arrive', async () => (await service.stored()).some((name) => name.startsWith('arriving/')))
  socket.destroy()
  await until('nothing is left', async () => (await service.stored()).length === 0)
  t.strictSame((await service.request('GET', `/v1/threads/${threadId}/files`)).json.items, [])
})

t.test('reading is cancelled, tried again, and refused where neither makes sense', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const broken = await uploaded(service, threadId, await fixtureFile('truncated.png'))
  const path = `/v1/threads/${threadId}/files/${broken.id}`
  t.match(broken, { status: 'failed', error: { code: 'broken', message: String } })
  t.equal((await service.request('GET', `${path}/content`)).status, 409, 'what is no image is not shown as one')
  t.match(await service.request('POST', `${path}/retry`), { status: 202, json: { status: 'pending', error: null } })
  t.match(await service.done(threadId, broken.id), { status: 'failed' })
  t.equal((await service.request('POST', `${path}/cancel`)).status, 409)
  const good = await uploaded(service, threadId, textFile('good.txt', 'good'))
  t.equal((await service.request('POST', `/v1/threads/${threadId}/files/${good.id}/retry`)).status, 409)
  t.equal((await service.request('POST', `/v1/threads/${threadId}/files/unknown/retry`)).status, 404)
})

t.test('a service that starts again reads what was left unread and clears what nobody owns', async (t) => {
  const first = await startUploadService(t)
  const threadId = await first.newThread()
  const { id } = await uploaded(first, threadId, textFile('left.txt', 'left'))
  // As a process leaves them that is killed: claimed by a pid that is gone, arriving, and never owned.
  const { files } = first.database
  const principal = { tenantId: 'default', userId: 'anonymous', roles: [] }
  const [stored] = await files.findMany(principal, threadId, [id])
  await files.remove(principal, threadId, id)
  await files.insert(principal, threadId, stored!) // it was found above
  t.ok(await files.claim(id, { claimId: 'c', holder: `${hostname()}/999999999/x`, leaseUntil: new Date(Date.now() + 60_000) }))
  await mkdir(join(first.dataDir, 'files/arriving'), { recursive: true })
  await writeFile(join(first.dataDir, `files/arriving/${encodeURIComponent(`${hostname()}/999999999/x`)}~1`), 'half')
  const orphan = join(first.dataDir, 'files/kept/0190-orphan')
  await writeFile(orphan, 'nobody')
  await utimes(orphan, 1, 1)
  await first.app.close()

  const again = await startUploadService(t, { dataDir: first.dataDir, databaseUrl: first.databaseUrl })
  t.match(await again.done(threadId, id), { status: 'completed' })
  t.strictSame(await readdir(join(first.dataDir, 'files/arriving')), [])
  t.equal((await again.stored()).length, 2)
})

t.test('X01: no address is fetched, whatever it leads to', async (t) => {
  const service = await startUploadService(t)
  let asked = 0
  const internal = createServer((_, response) => { asked++; response.end() }).listen(0, '127.0.0.1')
  t.teardown(() => { internal.close() })
  await once(internal, 'listening')
  const { port } = internal.address() as { port: number }
  const threadId = await service.newThread()
  const urls = [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${port}/v1/threads/${threadId}/files/x/content`, 'http://169.254.169.254/', 'http://[::ffff:127.0.0.1]/', 'http://0x7f000001/', 'file:///etc/passwd', 'data:image/png;base64,AAAA', '/etc/passwd']
  for (const url of urls) {
    const { status, body } = await post(`${service.url}/v1/threads/${threadId}/messages`, say({ type: 'text', text: 'Look' }, filePart(url)))
    t.equal(status, 400, url)
    t.match(JSON.parse(body), { code: 'invalid_request', details: { issues: [{ path: /parts\.1\.url$/ }] } }, url)
  }
  t.equal(asked, 0)
  t.equal(service.model.requests.length, 0)
})

t.test('a file of a message reaches the model as text, and history shows it under its full address', async (t) => {
  const service = await startUploadService(t, { env: { INLINE_TEXT_CHARS: '20', PUBLIC_URL: 'https://chat.example.com' } })
  const threadId = await service.newThread()
  const file = await uploaded(service, threadId, textFile('long.txt', 'abcdefghij'.repeat(5)))
  t.equal(file.url, `https://chat.example.com/v1/threads/${threadId}/files/${file.id}/content`)
  const path = new URL(file.url).pathname
  const ways = [filePart(file.url), filePart(path), filePart('https://elsewhere.example/x', { providerMetadata: { parley: { fileId: file.id }, other: { a: 1 } } })]
  for (const part of ways) t.equal((await post(`${service.url}/v1/threads/${threadId}/messages`, say({ type: 'text', text: 'Read it' }, part))).status, 200)
  for (const { messages } of service.model.requests) {
    const last = messages.at(-1)
    t.match(last?.role === 'user' && last.content, /^Read it\n\n\[Attached file "long\.txt" \(text\/plain, 50 bytes, id [0-9a-f-]+\): its text follows\.\]\nabcdefghijabcdefghij\n\[Cut: these are the first 20 of 50 characters/)
  }
  const history = (await getJson(`${service.url}/v1/threads/${threadId}/messages`)).items
  for (const message of history.filter(({ role }: { role: string }) => role === 'user')) {
    t.strictSame(message.parts[1], { type: 'file', url: file.url, mediaType: 'text/plain', filename: 'long.txt', providerMetadata: { parley: { fileId: file.id } } })
  }
})

t.test('a file of another thread is left out of the message, and said to be', async (t) => {
  const service = await startUploadService(t)
  const [mine, other] = [await service.newThread(), await service.newThread()]
  const file = await uploaded(service, other, textFile('secret.txt', 'SECRET'))
  for (const part of [filePart(file.url), filePart('/x', { providerMetadata: { parley: { fileId: file.id } } })]) {
    const { status, chunks } = await post(`${service.url}/v1/threads/${mine}/messages`, say({ type: 'text', text: 'Read it' }, part))
    t.equal(status, 200)
    t.match(chunks.find(({ type }) => type === 'data-unavailable-files'), { data: { fileIds: [file.id] }, transient: true })
  }
  t.notMatch(JSON.stringify(service.model.requests), /SECRET|secret\.txt/)
  t.notMatch(JSON.stringify(await getJson(`${service.url}/v1/threads/${mine}/messages`)), /secret\.txt|unavailable/)
  t.equal((await post(`${service.url}/v1/threads/${mine}/messages`, say(filePart(file.url)))).status, 400, 'nothing is left of a message without text')
})

t.test('a message may follow its file at once: the answer waits until it is read', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const { json: { items: [{ url }] } } = await service.upload(threadId, textFile('quick.txt', 'QUICK'))
  await post(`${service.url}/v1/threads/${threadId}/messages`, say(filePart(url)))
  t.match(JSON.stringify(service.model.requests), /QUICK/)
})

t.test('an agent without vision is told of an image, and an agent may describe its files itself', async (t) => {
  const service = await startUploadService(t, { agents: [{ key: 'blind', fileUpload: true }, { key: 'own', fileUpload: true, formatAttachment: ({ name, text }, ours) => `<${name}|${text}|${ours.length > 0}>` }, { key: 'faulty', fileUpload: true, formatAttachment: () => { throw new Error('no') } }] })
  const ask = async (agent: string, file: File) => {
    const threadId = await service.newThread(agent)
    const { url } = await uploaded(service, threadId, file)
    await post(`${service.url}/v1/threads/${threadId}/messages`, say(filePart(url)))
    return service.model.requests.at(-1)?.messages.at(-1)
  }
  t.strictSame(Object.keys(await ask('blind', await fixtureFile('png_named.jpg')) ?? {}), ['role', 'content'])
  t.match(service.model.requests.at(-1)?.messages.at(-1), { content: /2 x 2 pixels\): an image that is not shown to you/ })
  t.match(await ask('own', textFile('a.txt', 'A')), { content: '<a.txt|A|true>' })
  t.match(await ask('faulty', textFile('a.txt', 'A')), { content: /Attached file "a\.txt"/ })
})

t.test('a request behind a trusted proxy is given the address that its sender used', async (t) => {
  for (const [TRUST_PROXY, expected] of [['true', 'https://public.example/'], ['false', 'http://127.0.0.1:']] as const) {
    const service = await startUploadService(t, { env: { TRUST_PROXY } })
    const threadId = await service.newThread()
    const { id } = await uploaded(service, threadId, textFile('a.txt', 'a'))
    const response = await fetch(`${service.url}/v1/threads/${threadId}/files/${id}`, { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' } })
    t.ok((await response.json() as { url: string }).url.startsWith(expected))
  }
})

t.test("another owner's file does not exist", async (t) => {
  const [ada, bob] = ['ada', 'bob'].map((user) => newKey({ user, tenant: 'default', roles: [] }))
  const { url } = await startApp(t, { model: scriptedModel([['Fine']]), agents: [{ key: 'reader', fileUpload: true }], env: { DATA_DIR: t.testdir(), AUTH: 'keys', AUTH_KEYS: JSON.stringify([ada?.entry, bob?.entry]) } })
  const as = async (who: typeof ada, method: string, path: string, body?: FormData | string) => await fetch(url + path, { method, ...(body === undefined ? {} : { body }), headers: { authorization: `Bearer ${who?.key}`, ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}) } })
  const { id: threadId } = await (await as(ada, 'POST', '/v1/threads', '{}')).json() as { id: string }
  const form = new FormData()
  form.append('file', new File([new Uint8Array(await fixture('bigint.json'))], 'a.json'))
  const { items: [file] } = await (await as(ada, 'POST', `/v1/threads/${threadId}/files`, form)).json() as { items: [{ id: string }] }
  const path = `/v1/threads/${threadId}/files`
  t.equal((await as(ada, 'GET', `${path}/${file.id}`)).status, 200)
  for (const [method, at] of [['GET', path], ['POST', path], ['GET', `${path}/${file.id}`], ['GET', `${path}/${file.id}/content`], ['DELETE', `${path}/${file.id}`], ['POST', `${path}/${file.id}/retry`], ['POST', `${path}/${file.id}/cancel`]] as const) {
    const stolen = new FormData()
    stolen.append('file', textFile('x.txt', 'x'))
    t.equal((await as(bob, method, at, method === 'POST' && at === path ? stolen : undefined)).status, 404, `${method} ${at}`)
  }
  t.equal((await as(ada, 'GET', `${path}/${file.id}/content`)).status, 200)
})

t.test('X01: a chat that is not stored takes no files either', async (t) => {
  const service = await startUploadService(t)
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Look' }, filePart('http://169.254.169.254/')] }]
  for (const path of ['/api/chat', '/v1/agents/reader/run']) {
    const { status, body } = await post(service.url + path, { messages })
    t.equal(status, 400, path)
    t.match(JSON.parse(body), { details: { issues: [{ path: 'messages.0.parts.1.url' }] } }, path)
  }
  t.equal(service.model.requests.length, 0)
})
