import t from 'tap'
import { createModelRegistry, providerSchema } from '../../../src/models/providers.ts'
import { hear, textOf } from '../../helpers/chat-events.ts'
import { startUpstream } from '../../helpers/upstream.ts'

const local = providerSchema.parse({ baseURL: 'http://127.0.0.1:11434/v1' })
const remote = providerSchema.parse({ baseURL: 'https://models.example.com/v1', apiKeyEnv: 'REMOTE_KEY' })

t.test('the default model is offline until there is a key or an address', async (t) => {
  t.equal(createModelRegistry({ providers: {}, env: {} }).defaultModel, 'offline')
  t.equal(createModelRegistry({ providers: {}, env: { OPENAI_API_KEY: '' } }).defaultModel, 'offline')
  t.match(createModelRegistry({ providers: {}, env: { OPENAI_API_KEY: 'k' } }).defaultModel, /^openai:/)
  t.match(createModelRegistry({ providers: {}, env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } }).defaultModel, /^openai:/)
  t.equal(createModelRegistry({ providers: {}, env: {}, defaultModel: 'gpt-x' }).defaultModel, 'openai:gpt-x')
})

t.test('a model is named by provider and model, and is one instance', async (t) => {
  const models = createModelRegistry({ providers: { local, remote }, env: { OPENAI_API_KEY: 'k', REMOTE_KEY: 'r' } })
  for (const [id, full] of [['gpt-x', 'openai:gpt-x'], ['openai:ft:gpt-x:org::1', 'openai:ft:gpt-x:org::1'], ['local:llama3:8b', 'local:llama3:8b'], ['remote:maker/model', 'remote:maker/model'], ['offline', 'offline'], ['offline:any', 'offline']] as const) {
    t.equal(models.get(id).id, full)
    t.equal(models.get(id), models.get(full))
    t.equal(models.problem(id), undefined)
  }
})

t.test('what cannot be had is a configuration_error that says why, and can be asked for before', async (t) => {
  const models = createModelRegistry({ providers: { local, remote, second: providerSchema.parse({ apiKeyEnv: 'SECOND_KEY' }) }, env: {} })
  for (const [id, words] of [
    ['nowhere:m', /"nowhere".*openai, local, remote, second, offline/],
    ['gpt-x', /"openai" needs .*OPENAI_API_KEY/],
    ['remote:m', /"remote" needs .*REMOTE_KEY/],
    ['second:m', /"second" needs .*SECOND_KEY/],
    ['local:', /names no model/],
    ['__proto__:m', /"__proto__"/]
  ] as const) {
    t.match(models.problem(id), words, id)
    t.throws(() => models.get(id), { code: 'configuration_error', message: words }, id)
  }
  t.equal(models.problem('local:m'), undefined, 'an address needs no key')
})

t.test('a provider is asked under its own model name, with its own key and headers', async (t) => {
  const seen: unknown[] = []
  const { baseURL } = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    seen.push({ url: request.url, key: request.headers.authorization, extra: request.headers['x-extra'], organization: request.headers['openai-organization'], model: (JSON.parse(body) as { model: string }).model })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}')
  })
  const named = providerSchema.parse({ baseURL, apiKeyEnv: 'NAMED_KEY', headers: { 'x-extra': 'yes' } })
  const models = createModelRegistry({ providers: { named }, env: { OPENAI_API_KEY: 'main', OPENAI_BASE_URL: baseURL, OPENAI_ORG_ID: 'org', NAMED_KEY: 'other' } })
  for (const id of ['named:a/b:c', 'plain']) {
    const request = { instructions: '', messages: [{ role: 'user' as const, content: 'x' }], tools: [], toolChoice: 'auto' as const, settings: {} }
    t.equal(textOf((await hear(models.get(id).generate(request, { signal: new AbortController().signal }))).events), 'ok')
  }
  t.strictSame(seen, [
    { url: '/v1/chat/completions', key: 'Bearer other', extra: 'yes', organization: undefined, model: 'a/b:c' },
    { url: '/v1/chat/completions', key: 'Bearer main', extra: undefined, organization: 'org', model: 'plain' }
  ])
})

t.test('a model knows what the configuration tells of it', async (t) => {
  const facts = new Map([['local:llama3:8b', { contextWindow: 8_192, prices: { input: 1, output: 2 } }], ['offline', { contextWindow: 500 }]])
  const models = createModelRegistry({ providers: { local }, facts, env: {} })
  t.match(models.get('local:llama3:8b'), { id: 'local:llama3:8b', contextWindow: 8_192, prices: { input: 1, output: 2 } })
  t.match(models.get('offline:any'), { id: 'offline', contextWindow: 500, prices: undefined })
  t.match(models.get('local:other'), { contextWindow: undefined, prices: undefined })
})

t.test('a provider of the configuration is strict about its fields', async (t) => {
  t.strictSame(providerSchema.parse({}), { api: 'openai-chat' })
  for (const wrong of [{ apiKey: 'secret' }, { baseURL: 'not a url' }, { baseURL: 'file:///etc' }, { api: 'other' }, { mergeNeighbours: 'yes' }, { models: {} }]) {
    t.notOk(providerSchema.safeParse(wrong).success)
  }
})
