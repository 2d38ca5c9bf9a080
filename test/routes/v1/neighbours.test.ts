import t from 'tap'
import { createModelRegistry, providerSchema } from '../../../src/models/providers.ts'
import { getJson, post, startApp } from '../../helpers/app.ts'
import { startUpstream } from '../../helpers/upstream.ts'

for (const { api, mergeNeighbours } of [{ api: 'openai-chat', mergeNeighbours: true }, { api: 'openai-responses', mergeNeighbours: true }, { api: 'openai-chat', mergeNeighbours: undefined }] as const) {
  t.test(`${api}: neighbouring messages of one role are ${mergeNeighbours === true ? 'told as one where a provider wants that' : 'told as they are'}, and stored as they are`, async (t) => {
    const seen: unknown[] = []
    const { baseURL } = await startUpstream(t, async (request, response) => {
      let body = ''
      for await (const piece of request) body += String(piece)
      const { messages, input } = JSON.parse(body)
      seen.push((messages ?? input).filter(({ role }: { role: string }) => role !== 'system').map(({ role, content }: { role: string, content: unknown }) => [role, content]))
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    })
    const provider = providerSchema.parse({ baseURL, api, ...(mergeNeighbours === undefined ? {} : { mergeNeighbours }) })
    const { url } = await startApp(t, { models: createModelRegistry({ providers: { strict: provider }, defaultModel: 'strict:m', env: {} }) })
    const messages = `${url}/v1/threads/strict-thread/messages`
    for (const text of ['one', 'two']) await post(messages, { text })
    t.strictSame(seen, [[['user', 'one']], mergeNeighbours === true ? [['user', 'one\n\ntwo']] : [['user', 'one'], ['user', 'two']]])
    const { items } = await getJson(messages)
    t.strictSame(items.filter(({ role }: { role: string }) => role === 'user').map(({ parts }: { parts: unknown }) => parts), [[{ type: 'text', text: 'one' }], [{ type: 'text', text: 'two' }]])
  })
}
