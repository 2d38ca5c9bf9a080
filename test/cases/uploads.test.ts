import { existsSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import t from 'tap'
import { availableProviders } from '../helpers/databases.ts'
import { fixture, fixtureFile, startUploadService, textFile } from '../helpers/uploads.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`U01, U03: a name of any script is kept in answers and lists, and given back at download, on ${provider}`, { skip }, async (t) => {
    const service = await startUploadService(t, { provider })
    const threadId = await service.newThread()
    const { status, json } = await service.uploadRaw(threadId, await fixture('multipart/01_utf8_filename.bin'))
    const name = 'レポート 😀 é.txt'
    t.equal(status, 202)
    t.match(json.items, [{ name, mediaType: 'text/plain', size: 6, status: 'pending' }])
    const file = await service.done(threadId, json.items[0].id)
    t.match(file, { name, status: 'completed', facts: { encoding: 'utf-8', lines: 1 } })
    t.match((await service.request('GET', `/v1/threads/${threadId}/files`)).json, { items: [{ name }], nextCursor: null })
    const download = await fetch(file.url)
    t.equal(download.status, 200)
    t.equal(await download.text(), 'hello\n')
    t.match(Object.fromEntries(download.headers), {
      'content-disposition': `attachment; filename="____ _ e.txt"; filename*=UTF-8''${encodeURIComponent(name)}`,
      'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff', 'content-security-policy': /sandbox/
    })
  })

  t.test(`U09, U11, U34: encodings, marks and NUL characters do not reach the text, on ${provider}`, { skip }, async (t) => {
    const service = await startUploadService(t, { provider })
    const threadId = await service.newThread()
    const cases = [
      ['sjis.csv', { encoding: 'shift_jis', columns: ['氏名', '都市', '金額'], rows: 2 }, '髙橋,大阪,980'],
      ['gb18030.csv', { encoding: 'gb18030', columns: ['产品', '价格'], rows: 2 }, '香蕉,2.0'],
      ['utf8_bom_header.csv', { encoding: 'utf-8', columns: ['id', 'name'], rows: 2 }, 'id,name\n1,ada'],
      ['nul_inside.txt', { encoding: 'utf-8', lines: 2 }, 'beforeafter\nsecond line']
    ] as const
    for (const [name, facts, text] of cases) {
      const { json } = await service.upload(threadId, await fixtureFile(name))
      t.match(await service.done(threadId, json.items[0].id), { status: 'completed', facts }, name)
      await service.request('POST', `/v1/threads/${threadId}/messages`, { message: { role: 'user', parts: [{ type: 'text', text: 'See' }, { type: 'file', url: json.items[0].url, mediaType: 'x/y' }] } })
      const said = service.model.requests.at(-1)?.messages.at(-1)
      t.ok(said?.role === 'user' && said.content.includes(text), `${name} reaches the model`)
      t.notMatch(JSON.stringify(said), /\\u0000|\ufeff/, name)
    }
  })
}

t.test('U04: a refused part does not hold up the rest, and the connection can be used again', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  const part = (name: string, content: Buffer) => Buffer.concat([Buffer.from(`--bnd\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`), content, Buffer.from('\r\n')])
  const body = (second: string) => Buffer.concat([part('a.exe', Buffer.from('MZ\0\x01\x02')), part(second, Buffer.alloc(5_000_000, 'x')), Buffer.from('--bnd--\r\n')])
  const send = async (path: string, bytes: Buffer) => await new Promise<number>((resolve, reject) => {
    const request = httpRequest(service.url + path, { method: 'POST', agent, headers: { 'content-type': 'multipart/form-data; boundary=bnd', 'content-length': bytes.length } }, (response) => {
      response.resume().once('end', () => { resolve(response.statusCode ?? 0) })
    })
    request.once('error', reject)
    request.end(bytes)
  })
  const begun = Date.now()
  t.equal(await send(`/v1/threads/${threadId}/files`, body('b.exe')), 415)
  t.equal(await send(`/v1/threads/${threadId}/files`, body('b.txt')), 202)
  t.equal(await send('/v1/threads/unknown-thread/files', body('b.txt')), 404)
  t.equal(await send(`/v1/threads/${threadId}/files`, body('c.txt')), 415, 'the same bytes again, and a wrong type: why the first was refused')
  t.ok(Date.now() - begun < 8_000, 'without delay')
})

t.test('U06: a file is taken up to the limit and refused one byte over it, each time, with nothing kept', async (t) => {
  const service = await startUploadService(t, { env: { MAX_UPLOAD_BYTES: '100000' } })
  const threadId = await service.newThread()
  for (const fill of ['x', 'y']) {
    t.match(await service.upload(threadId, textFile('big.txt', fill.repeat(100_001))), { status: 413, json: { code: 'payload_too_large' } })
    t.strictSame(await service.stored(), [])
  }
  t.equal((await service.upload(threadId, textFile('fits.txt', 'x'.repeat(100_000)))).status, 202)
  const { status, json } = await service.upload(threadId, textFile('big.txt', 'y'.repeat(100_001)), textFile('small.txt', 'small'))
  t.equal(status, 202)
  t.match(json.items, [{ name: 'big.txt', status: 'refused', error: { code: 'payload_too_large' } }, { name: 'small.txt', status: 'pending' }])
  t.match(await service.upload(threadId, ...Array.from({ length: 11 }, (_, index) => textFile(`${index}.txt`, `n${index}`))), { status: 413, json: { details: { reason: 'count' } } })
  t.equal((await service.request('GET', `/v1/threads/${threadId}/files`)).json.items.length, 2)
})

t.test('U07: an empty or blank file is refused as empty', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const empty = { status: 415, json: { code: 'file_unsupported', details: { reason: 'empty' } } }
  t.match(await service.uploadRaw(threadId, await fixture('multipart/11_zero_byte.bin')), empty)
  for (const name of ['empty.csv', 'empty.xlsx', 'whitespace_only.txt']) t.match(await service.upload(threadId, await fixtureFile(name)), empty, name)
  t.strictSame(await service.stored(), [])
})

t.test('U08: a CSV and a JSON file are taken for what they are, whatever they are declared as', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  for (const [name, mediaType] of [['12_csv_vnd_ms_excel', 'text/csv'], ['13_octet_stream_json', 'application/json']] as const) {
    const { status, json } = await service.uploadRaw(threadId, await fixture(`multipart/${name}.bin`))
    t.equal(status, 202)
    t.match(await service.done(threadId, json.items[0].id), { mediaType, status: 'completed' })
  }
})

t.test('U18: what is not what its name says is refused with the accepted types, and the others of the upload work', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  for (const name of ['binary_as.txt', 'truncated.docx', 'not_a_zip.docx', 'truncated.pdf', 'csv_named.xlsx', 'page.html', 'script.svg', 'heic_named.png', 'photo.heic']) {
    t.match(await service.upload(threadId, await fixtureFile(name)), { status: 415, json: { code: 'file_unsupported', message: /Accepted are txt, .*gif\./ } }, name)
  }
  const { json } = await service.upload(threadId, await fixtureFile('truncated.pdf'), textFile('note.md', '# Hi'))
  t.match(json.items, [{ status: 'refused', error: { code: 'file_unsupported' } }, { mediaType: 'text/markdown', status: 'pending' }])
  const broken = await service.upload(threadId, await fixtureFile('truncated.png'))
  t.equal(broken.status, 202)
  t.match(await service.done(threadId, broken.json.items[0].id), { status: 'failed', error: { code: 'broken' } })
})

t.test('U28: an image is what its bytes are, is sent to the model as that, and never spoils the thread', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const { json: { items: [{ id }] } } = await service.upload(threadId, await fixtureFile('png_named.jpg', { type: 'image/jpeg' }))
  const file = await service.done(threadId, id)
  t.match(file, { mediaType: 'image/png', name: 'png_named.jpg', status: 'completed', facts: { width: 2, height: 2 } })
  const shown = await fetch(file.url)
  t.match(Object.fromEntries(shown.headers), { 'content-type': 'image/png', 'content-disposition': /^inline/, 'x-content-type-options': 'nosniff' })
  t.same(Buffer.from(await shown.arrayBuffer()), await fixture('png_named.jpg'))
  const messages = `/v1/threads/${threadId}/messages`
  await service.request('POST', messages, { message: { role: 'user', parts: [{ type: 'file', url: file.url, mediaType: 'image/jpeg' }] } })
  t.match(service.model.requests.at(-1)?.messages, [{ role: 'user', images: [{ mediaType: 'image/png', base64: (await fixture('png_named.jpg')).toString('base64') }] }])
  for (const text of ['One', 'Two', 'Three']) t.equal((await service.request('POST', messages, { text })).status, 200)
  const context = service.model.requests.at(-1)?.messages ?? []
  t.notOk(context.some((message) => message.role === 'user' && message.images !== undefined), 'pixels go with the newest message only')
})

t.test('U32: lines of JSON are records under either name, and a faulty line is named', async (t) => {
  const service = await startUploadService(t)
  const read = async (file: File) => {
    const threadId = await service.newThread()
    return await service.done(threadId, (await service.upload(threadId, file)).json.items[0].id)
  }
  t.match(await read(await fixtureFile('lines.jsonl')), { status: 'completed', facts: { records: 3 } })
  t.match(await read(await fixtureFile('lines.jsonl', { as: 'lines.json' })), { status: 'completed', facts: { records: 3, note: /each line/ } })
  t.match(await read(textFile('bad.jsonl', '{"n":1}\n\n{"n":')), { status: 'failed', error: { code: 'invalid_jsonl', message: /^Line 3 / } })
  t.match(await read(textFile('bad.json', '{\n  "n": oops\n}')), { status: 'failed', error: { code: 'invalid_json', message: /line 2/ } })
})

t.test('P09: a number keeps all of its digits', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const { json: { items: [{ id, url }] } } = await service.upload(threadId, await fixtureFile('bigint.json'))
  t.match(await service.done(threadId, id), { status: 'completed' })
  await service.request('POST', `/v1/threads/${threadId}/messages`, { message: { role: 'user', parts: [{ type: 'file', url, mediaType: 'application/json' }] } })
  t.match(JSON.stringify(service.model.requests.at(-1)?.messages), /9007199254740993.*1e400/)
})

t.test('X05: a field or a JSON file that speaks of prototypes changes nothing', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  t.equal((await service.uploadRaw(threadId, await fixture('multipart/15_proto_field.bin'))).status, 400)
  t.strictSame(await service.stored(), [], 'nothing of a refused request is kept')
  t.equal((await service.upload(threadId, await fixtureFile('proto.json'))).status, 202)
  t.equal(({} as Record<string, unknown>)['isAdmin'], undefined)
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('X08: what a browser could run is saved by it, never shown in place', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const { json: { items: [{ id }] } } = await service.upload(threadId, await fixtureFile('page.html', { as: 'page.txt', type: 'text/html' }))
  const file = await service.done(threadId, id)
  const { headers } = await fetch(file.url)
  t.match(Object.fromEntries(headers), { 'content-type': 'application/octet-stream', 'content-disposition': /^attachment/, 'x-content-type-options': 'nosniff', 'content-security-policy': /sandbox/ })
})

t.test('X12: a name never leads out of the folder of files, nor does a path', async (t) => {
  const service = await startUploadService(t)
  const threadId = await service.newThread()
  const names: string[] = []
  for (const name of ['03_traversal', '04_traversal_backslash', '05_percent_traversal', '17_dotfile_reserved']) {
    const other = await service.newThread()
    const { json: { items: [file] } } = await service.uploadRaw(other, await fixture(`multipart/${name}.bin`))
    names.push((await service.done(other, file.id)).name)
  }
  t.strictSame(names, ['pwned_marker.txt', 'x.txt', 'x.txt', 'CON .txt.'])
  t.notOk(existsSync('/tmp/pwned_marker.txt'))
  for (const name of await service.stored()) t.match(name, /^kept\/[0-9a-f-]{36}(\.text)?$/)
  for (const path of ['..%2f..%2fetc%2fpasswd', '..%2f..%2fetc%2fpasswd/content']) t.equal((await service.request('GET', `/v1/threads/${threadId}/files/${path}`)).status, 404)
})
