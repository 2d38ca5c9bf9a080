import t, { type Test } from 'tap'
import { createChat } from '../../helpers/ai-clients.ts'
import { getJson, post, read, startApp, until } from '../../helpers/app.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

interface Shown { readonly id: string, readonly role: string, readonly parts: ReadonlyArray<{ readonly text?: string }>, readonly metadata: Record<string, unknown> }

t.test('history is read from its newest page to its oldest, each in ascending order, whatever is added meanwhile', async (t) => {
  const { url, messages, say } = await start(t)
  for (let n = 1; n <= 5; n++) await say(`Question ${n}`)
  t.strictSame(texts(await getJson(`${messages}?limit=100`)), [1, 2, 3, 4, 5].flatMap((n) => [`Question ${n}`, 'Answer']))
  const newest = await getJson(`${messages}?limit=4`)
  t.strictSame(texts(newest), ['Question 4', 'Answer', 'Question 5', 'Answer'])
  await say('Question 6')
  const older = await getJson(`${messages}?limit=4&before=${newest.nextCursor}`)
  t.strictSame(texts(older), ['Question 2', 'Answer', 'Question 3', 'Answer'])
  await send(url, 'DELETE', `/v1/threads/thread-one/messages/${older.items[0].id}`)
  const oldest = await getJson(`${messages}?limit=4&before=${older.nextCursor}`)
  t.strictSame(texts(oldest), ['Question 1', 'Answer'])
  t.equal(oldest.nextCursor, null)
  t.strictSame(texts(await getJson(`${messages}?limit=1`)), ['Answer'])
})

t.test('history tells what each message is', async (t) => {
  const { messages, say } = await start(t)
  await say('Hello')
  const { items: [question, answer] } = await getJson(messages)
  t.match(question, { role: 'user', parts: [{ type: 'text', text: 'Hello' }], metadata: { status: 'completed', threadId: 'thread-one', siblings: 1, createdAt: /Z$/ } })
  t.match(answer, {
    role: 'assistant',
    parts: [{ type: 'step-start' }, { type: 'text', text: 'Answer', state: 'done' }],
    metadata: { status: 'completed', finishReason: 'stop', model: 'test:scripted', runId: String, usage: { input: 10, output: 5 }, siblings: 1 }
  })
  t.notMatch(JSON.stringify([question, answer]), /null/, 'what is not there is left out')
})

t.test('the branches at a message are paged in the order they were made, and each knows how many there are', async (t) => {
  const { url, messages, say } = await start(t, [['one'], ['two'], ['three']])
  await say('Question')
  for (let n = 0; n < 2; n++) await post(messages, { trigger: 'regenerate-message' })
  const shown: Shown = (await getJson(messages)).items[1]
  t.equal(shown.metadata['siblings'], 3)
  const first = await getJson(`${messages}/${shown.id}/siblings?limit=2`)
  t.strictSame(texts(first), ['one', 'two'])
  const second = await getJson(`${messages}/${shown.id}/siblings?limit=2&cursor=${first.nextCursor}`)
  t.strictSame(texts(second), ['three'])
  t.equal(second.nextCursor, null)
  t.strictSame([...first.items, ...second.items].map(({ metadata }: Shown) => metadata['siblings']), [3, 3, 3])
  await send(url, 'DELETE', `/v1/threads/thread-one/messages/${first.items[0].id}`)
  t.strictSame(texts(await getJson(`${messages}/${shown.id}/siblings`)), ['two', 'three'], 'without those that were deleted')
})

t.test('a deleted message is out of history and of what the model is told, until it is restored', async (t) => {
  const { url, messages, model, say } = await start(t)
  await say('Secret')
  await say('Second')
  const { items: [secret] } = await getJson(messages)
  const path = `/v1/threads/thread-one/messages/${secret.id}`
  const { status, text } = await send(url, 'DELETE', path)
  t.strictSame([status, text], [204, ''])
  t.equal((await send(url, 'DELETE', path)).status, 204, 'deleting again changes nothing')
  t.strictSame(texts(await getJson(messages)), ['Answer', 'Second', 'Answer'])
  t.equal((await getJson(`${url}/v1/threads/thread-one`)).messageCount, 3)
  await say('Third')
  t.notMatch(JSON.stringify(model.requests.at(-1)), /Secret/)

  const restored = await send(url, 'POST', `${path}/restore`)
  t.equal(restored.status, 200)
  t.strictSame(restored.json, secret)
  t.equal((await send(url, 'POST', `${path}/restore`)).status, 200, 'restoring again changes nothing')
  t.strictSame(texts(await getJson(messages)), ['Secret', 'Answer', 'Second', 'Answer', 'Third', 'Answer'])
  t.equal((await getJson(`${url}/v1/threads/thread-one`)).messageCount, 6)
  await say('Fourth')
  t.match(JSON.stringify(model.requests.at(-1)), /Secret/)
})

t.test('the newest message can be deleted, and the conversation goes on', async (t) => {
  const { url, messages, model, say } = await start(t)
  await say('First')
  await say('Second')
  const { items } = await getJson(messages)
  for (const { id } of items.slice(2).reverse()) t.equal((await send(url, 'DELETE', `/v1/threads/thread-one/messages/${id}`)).status, 204)
  await say('Third')
  t.strictSame(model.requests.at(-1)?.messages.map((message) => message.role === 'assistant' ? message.text : message.content), ['First', 'Answer', 'Third'])
  t.strictSame(texts(await getJson(messages)), ['First', 'Answer', 'Third', 'Answer'])
})

t.test('a message is found by the id its client knows it by, on the branch on show', async (t) => {
  const { url, messages } = await start(t)
  const chat = await createChat('ai6', { api: `${url}/api/chat`, id: 'thread-one' })
  await chat.sendMessage({ text: 'Draft' })
  const id = chat.messages[0]?.id ?? ''
  await chat.sendMessage({ text: 'Edited', messageId: id })
  t.strictSame(texts(await getJson(messages)), ['Edited', 'Answer'])
  t.equal((await getJson(messages)).items[0].id, id)
  t.strictSame(texts(await getJson(`${messages}/${id}/siblings`)), ['Draft', 'Edited'])
  t.equal((await send(url, 'DELETE', `/v1/threads/thread-one/messages/${id}`)).status, 204)
  t.strictSame(texts(await getJson(messages)), ['Answer'], 'the message on show is the one that goes')
  t.match((await send(url, 'POST', `/v1/threads/thread-one/messages/${id}/restore`)).json, { id, parts: [{ text: 'Edited' }] }, 'and that comes back')
  t.strictSame(texts(await getJson(messages)), ['Edited', 'Answer'])
})

t.test('each version of an edited question can be shown again, with the answer it got', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['first answer'], ['second answer']]) })
  const thread = `${url}/v1/threads/versions-1`
  const ask = (text: string, more = {}) => post(`${thread}/messages`, { messages: [{ id: 'question-1', role: 'user', parts: [{ type: 'text', text }] }], ...more })
  await ask('Draft')
  await ask('Edited', { messageId: 'question-1' })
  const versions = (await getJson(`${thread}/messages/question-1/siblings`)).items
  t.equal(versions.length, 2)
  for (const [index, answer] of ['first answer', 'second answer'].entries()) {
    const { branchHeadId } = versions[index].metadata
    const patched = await fetch(thread, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ headId: branchHeadId }) })
    t.equal(patched.status, 200)
    t.strictSame(texts(await getJson(`${thread}/messages`)), [['Draft', 'Edited'][index], answer])
  }
})

t.test('the longest id a client may choose works everywhere', async (t) => {
  const { url, messages } = await start(t)
  const id = 'm'.repeat(128)
  t.equal((await post(messages, { message: { id, role: 'user', parts: [{ type: 'text', text: 'Hello' }] } })).status, 200)
  t.equal((await getJson(`${messages}/${id}/siblings`)).items[0].id, id)
  t.equal((await send(url, 'DELETE', `/v1/threads/thread-one/messages/${id}`)).status, 204)
  const thread = 't'.repeat(64)
  t.equal((await post(`${url}/v1/threads/${thread}/messages`, { text: 'Hello' })).status, 200)
  t.equal((await getJson(`${url}/v1/threads/${thread}`)).id, thread)
})

t.test('an answer is rated, rated again and no more, and history shows it', async (t) => {
  const { url, messages, say } = await start(t)
  await say('Hello')
  const { items: [question, answer] } = await getJson(messages)
  const path = `/v1/threads/thread-one/messages/${answer.id}/rating`
  const rating = async () => (await getJson(messages)).items[1].metadata.rating
  t.strictSame((await send(url, 'PUT', path, { body: { rating: 1, comment: 'Gut! 🎉' } })).json, { messageId: answer.id, rating: 1, comment: 'Gut! 🎉' })
  t.strictSame(await rating(), { rating: 1, comment: 'Gut! 🎉' })
  t.strictSame((await send(url, 'PUT', path, { body: { rating: -1 } })).json, { messageId: answer.id, rating: -1, comment: null })
  t.strictSame(await rating(), { rating: -1 })
  t.equal((await send(url, 'PUT', path, { body: { rating: 1, comment: 'x'.repeat(2_000) } })).status, 200)
  t.equal((await send(url, 'DELETE', path)).status, 204)
  t.equal(await rating(), undefined)
  t.equal((await send(url, 'DELETE', path)).status, 204, 'withdrawing again changes nothing')
  refused(t, await send(url, 'PUT', `/v1/threads/thread-one/messages/${question.id}/rating`, { body: { rating: 1 } }), { status: 404, code: 'not_found' }, 'a question is not rated')
})

t.test('one id leads from the first event of an answer to its row, its rating and its deletion', async (t) => {
  const { url, messages, say } = await start(t)
  const { chunks } = await say('Hello')
  const id = String(chunks.find(({ type }) => type === 'start')?.['messageId'])
  const { items: [, answer] } = await getJson(messages)
  t.equal(answer.id, id)
  const { body } = await read(await fetch(`${url}/v1/runs/${answer.metadata.runId}/events`))
  t.match(body, `"type":"message-start","messageId":"${id}"`)
  t.match((await send(url, 'PUT', `/v1/threads/thread-one/messages/${id}/rating`, { body: { rating: 1 } })).json, { messageId: id })
  t.equal((await send(url, 'DELETE', `/v1/threads/thread-one/messages/${id}`)).status, 204)
  t.strictSame(texts(await getJson(messages)), ['Hello'])
})

t.test('a message that is being written is shown on request, and cannot be deleted', async (t) => {
  const { url, messages, say } = await start(t, [['Be', { hang: true }]])
  const asked = say('Hello')
  await until('the answer has begun', async () => {
    const response = await fetch(`${messages}?include=streaming`)
    return response.ok && texts(await response.json() as { items: Shown[] }).includes('Be')
  })
  t.strictSame(texts(await getJson(messages)), ['Hello'])
  const answer: Shown = (await getJson(`${messages}?include=streaming`)).items[1]
  t.equal(answer.metadata['status'], 'streaming')
  refused(t, await send(url, 'DELETE', `/v1/threads/thread-one/messages/${answer.id}`), { status: 409, code: 'thread_busy' }, 'deleting it')
  refused(t, await send(url, 'PATCH', '/v1/threads/thread-one', { body: { headId: answer.id } }), { status: 409, code: 'thread_busy' }, 'changing the branch')
  const busy = await send(url, 'POST', '/v1/threads/thread-one/messages', { body: { text: 'Another' } })
  refused(t, busy, { status: 409, code: 'thread_busy' }, 'another message')
  t.equal(busy.json.details.runId, answer.metadata['runId'])
  await send(url, 'POST', '/v1/threads/thread-one/stop')
  await asked
  t.strictSame(texts(await getJson(messages)), ['Hello', 'Be'])
})

async function start (t: Test, script: Parameters<typeof scriptedModel>[0] = [['Answer']]) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model })
  const messages = `${url}/v1/threads/thread-one/messages`
  return { url, messages, model, say: (text: string) => post(messages, { text }) }
}

function texts ({ items }: { items: readonly Shown[] }): string[] {
  return items.map(({ parts }) => parts.map(({ text = '' }) => text).join(''))
}
