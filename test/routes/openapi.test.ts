import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { defineArtifact } from '../../src/artifacts/artifact.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { allowAll } from '../../src/auth/shipped-permissions.ts'
import { kitWith } from '../helpers/agents.ts'
import { startApp, until, type TestApp } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { routesOf, type Route } from '../isolation/routes.ts'

interface Media { readonly schema: object, readonly example?: unknown }
interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: ReadonlyArray<{ readonly name: string, readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly description: string, readonly content?: Readonly<Record<string, Media>> }>>
}
interface Document {
  readonly openapi: string
  readonly tags: ReadonlyArray<{ readonly name: string }>
  readonly security: readonly object[]
  readonly servers: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>>, readonly securitySchemes: object }
}
type Named = Operation & { readonly name: string }

const publicRoutes = ['GET /health', 'GET /ready', 'GET /metrics', 'GET /openapi.json']
const table = [
  ...publicRoutes,
  'GET /v1/agents', 'GET /v1/agents/{agentId}', 'GET /v1/agents/{agentId}/tools', 'POST /v1/agents/{agentId}/run', 'POST /v1/agents/{agentId}/ag-ui',
  'POST /v1/runtime-agents', 'GET /v1/runtime-agents', 'GET /v1/runtime-agents/{runtimeAgentId}', 'PATCH /v1/runtime-agents/{runtimeAgentId}', 'DELETE /v1/runtime-agents/{runtimeAgentId}',
  'POST /v1/threads', 'GET /v1/threads', 'DELETE /v1/threads',
  'GET /v1/threads/{threadId}', 'PATCH /v1/threads/{threadId}', 'DELETE /v1/threads/{threadId}', 'GET /v1/threads/{threadId}/usage',
  'GET /v1/threads/{threadId}/messages', 'POST /v1/threads/{threadId}/messages', 'GET /v1/threads/{threadId}/messages/{messageId}/siblings',
  'DELETE /v1/threads/{threadId}/messages/{messageId}', 'POST /v1/threads/{threadId}/messages/{messageId}/restore',
  'PUT /v1/threads/{threadId}/messages/{messageId}/rating', 'DELETE /v1/threads/{threadId}/messages/{messageId}/rating',
  'GET /v1/threads/{threadId}/stream', 'POST /v1/threads/{threadId}/stop',
  'POST /v1/threads/{threadId}/files', 'GET /v1/threads/{threadId}/files', 'GET /v1/threads/{threadId}/files/{fileId}', 'GET /v1/threads/{threadId}/files/{fileId}/content',
  'DELETE /v1/threads/{threadId}/files/{fileId}', 'POST /v1/threads/{threadId}/files/{fileId}/retry', 'POST /v1/threads/{threadId}/files/{fileId}/cancel', 'GET /v1/uploads/settings',
  'GET /v1/runs/{runId}', 'GET /v1/runs/{runId}/events', 'POST /v1/runs/{runId}/stop',
  'POST /api/chat', 'GET /api/chat/{threadId}/stream',
  'POST /v1/chat/completions', 'GET /v1/models', 'GET /v1/models/{model}'
]

t.test('the description is a valid OpenAPI 3.1 document', async (t) => {
  const { document } = await describedApp(t)
  t.match(document, { openapi: '3.1.0', components: { securitySchemes: { bearer: {}, apiKey: {} } } })
  const result = await new Validator().validate({ ...document })
  t.strictSame(result.valid ? [] : result.errors, [])
})

t.test('every route is described, and nothing that is no route', async (t) => {
  const { document, routes } = await describedApp(t)
  const registered = routes
    .filter(({ method, url }) => method !== 'HEAD' && method !== 'OPTIONS' && !/^\/docs(\/|$)/.test(url))
    .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
  const described = operations(document).map(({ name }) => name)
  t.strictSame(described.sort(), registered.sort())
  t.strictSame(table.filter((name) => !described.includes(name)), [], 'what the service promises is there')
})

t.test('every route says what it does, under a name of its own', async (t) => {
  const { document } = await describedApp(t)
  const all = operations(document)
  const tags = document.tags.map(({ name }) => name)
  for (const { name, summary, operationId, tags: own, parameters = [], responses } of all) {
    t.match(summary, /^\S.{5,}$/, `${name}: summary`)
    t.match(operationId, /^[a-z]\w+$/, `${name}: operationId`)
    t.ok(own?.length === 1 && tags.includes(own[0] ?? ''), `${name}: tag`)
    t.strictSame(parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name), Array.from(name.matchAll(/\{(\w+)\}/g), ([, param]) => param), `${name}: path parameters`)
    t.ok(Object.keys(responses).some((status) => status.startsWith('2')), `${name}: what it answers`)
    t.notMatch(JSON.stringify(responses), /Default Response/, name)
  }
  t.equal(new Set(all.map(({ operationId }) => operationId)).size, all.length)
})

t.test('what is for known callers says how they are known, and what strangers are told', async (t) => {
  const { document } = await describedApp(t, { AUTH: 'keys', AUTH_KEYS: JSON.stringify([{ hash: `sha256:${'0'.repeat(64)}`, user: 'ada' }]) })
  t.strictSame(document.security, [{ bearer: [] }, { apiKey: [] }])
  for (const { name, security, responses } of operations(document)) {
    if (publicRoutes.includes(name)) t.strictSame(security, [], name)
    else t.ok(security === undefined && responses['401'] !== undefined, name)
  }
})

t.test('every body and every answer has an example, which fits its schema', async (t) => {
  const { document } = await describedApp(t)
  const compile = compiler(document)
  for (const { name, requestBody, responses } of operations(document)) {
    const contents = [requestBody?.content ?? {}, ...Object.values(responses).map(({ content }) => content ?? {})]
    for (const [type, { schema, example }] of contents.flatMap((content) => Object.entries(content))) {
      const check = compile(schema)
      t.ok(example !== undefined && check(example), `${name}: ${type} ${JSON.stringify(example)} ${JSON.stringify(check.errors)}`)
    }
  }
})

t.test('routes that read a body describe it', async (t) => {
  const { document } = await describedApp(t)
  const bodiless = /\/(stop|restore|retry|cancel)$/
  for (const { name, requestBody } of operations(document).filter(({ name }) => /^(POST|PUT|PATCH) /.test(name))) {
    t.equal(requestBody === undefined, bodiless.test(name), name)
  }
})

t.test('streams are described as what they are', async (t) => {
  const { document } = await describedApp(t)
  for (const name of ['POST /v1/threads/{threadId}/messages', 'GET /v1/threads/{threadId}/stream', 'GET /v1/runs/{runId}/events', 'POST /api/chat', 'POST /v1/chat/completions', 'POST /v1/agents/{agentId}/ag-ui']) {
    const operation = operations(document).find((operation) => operation.name === name)
    t.match(operation?.responses['200']?.content?.['text/event-stream']?.example, /^(event|data): /, name)
  }
})

t.test('what the routes answer is what is described', async (t) => {
  const { app, document, url } = await describedApp(t)
  const compile = compiler(document)
  let seen = 0

  const ask = async (name: string, path: string, body?: object | string, status = 200) => {
    const [method = ''] = name.split(' ')
    const contentType = typeof body === 'string' ? 'multipart/form-data; boundary=line' : 'application/json'
    const answer = await fetch(url + path, { method, ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'content-type': contentType } }) })
    const text = await answer.text()
    const described = operations(document).find((operation) => operation.name === name)?.responses[status]
    t.equal(answer.status, status, `${name}: ${text}`)
    const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
    t.ok(described !== undefined && (type === '' ? described.content === undefined : described.content?.[type] !== undefined), `${name} ${status}: ${type}`)
    const schema = described?.content?.[type]?.schema
    const value: unknown = type === 'application/json' ? JSON.parse(text) : undefined
    if (schema !== undefined && value !== undefined) {
      const check = compile(schema)
      seen++
      t.ok(check(value), `${name} ${status}: ${JSON.stringify(check.errors)} in ${text}`)
    }
    return { headers: answer.headers, value: value as { items: { id: string }[] } } // where it has any
  }

  await ask('POST /v1/threads', '/v1/threads', { id: 'thread-made', title: 'Made' }, 201)
  const thread = '/v1/threads/thread-real'
  const chat = await ask('POST /v1/threads/{threadId}/messages', `${thread}/messages`, { text: 'Hi' })
  const runId = chat.headers.get('x-run-id')
  const history = (await ask('GET /v1/threads/{threadId}/messages', `${thread}/messages`)).value
  const answer = `${thread}/messages/${history.items[1]?.id}`
  await ask('PUT /v1/threads/{threadId}/messages/{messageId}/rating', `${answer}/rating`, { rating: 1, comment: 'Good' })
  await ask('GET /v1/threads/{threadId}/messages', `${thread}/messages`)
  await ask('GET /v1/threads/{threadId}/messages/{messageId}/siblings', `${answer}/siblings`)
  await ask('DELETE /v1/threads/{threadId}/messages/{messageId}/rating', `${answer}/rating`, undefined, 204)
  await ask('DELETE /v1/threads/{threadId}/messages/{messageId}', answer, undefined, 204)
  await ask('POST /v1/threads/{threadId}/messages/{messageId}/restore', `${answer}/restore`)
  await ask('GET /v1/threads', '/v1/threads?limit=1')
  await ask('GET /v1/threads', '/v1/threads?limit=0', undefined, 400)
  await ask('GET /v1/threads/{threadId}', thread)
  await ask('GET /v1/threads/{threadId}', '/v1/threads/thread-none', undefined, 404)
  await ask('PATCH /v1/threads/{threadId}', thread, { title: 'Named', metadata: { a: 1 } })
  t.match((await ask('GET /v1/threads/{threadId}/artifacts', `${thread}/artifacts`)).value, { items: [{ name: 'sum' }] })
  await ask('GET /v1/threads/{threadId}/usage', `${thread}/usage`)
  await ask('GET /v1/threads/{threadId}/stream', `${thread}/stream`, undefined, 204)
  await ask('POST /v1/threads/{threadId}/stop', `${thread}/stop`)
  await ask('GET /v1/runs/{runId}', `/v1/runs/${runId}`)
  await ask('GET /v1/runs/{runId}/events', `/v1/runs/${runId}/events`)
  await ask('POST /v1/runs/{runId}/stop', `/v1/runs/${runId}/stop`)
  await ask('GET /v1/agents', '/v1/agents')
  await ask('GET /v1/agents/{agentId}', '/v1/agents/tester')
  await ask('POST /v1/agents/{agentId}/run', '/v1/agents/tester/run', { input: 'Hi', tools: true })
  await ask('POST /v1/agents/{agentId}/ag-ui', '/v1/agents/tester/ag-ui', { threadId: 'thread-of-run', runId: 'run-1', messages: [{ id: 'm1', role: 'user', content: 'Hi' }] })
  const made = (await ask('POST /v1/runtime-agents', '/v1/runtime-agents', { base: 'tester', name: 'Made' }, 201)).value as unknown as { id: string }
  await ask('POST /v1/runtime-agents', '/v1/runtime-agents', { base: 'nobody', name: 'Made' }, 400)
  await ask('GET /v1/runtime-agents', '/v1/runtime-agents')
  await ask('GET /v1/runtime-agents/{runtimeAgentId}', `/v1/runtime-agents/${made.id}`)
  await ask('PATCH /v1/runtime-agents/{runtimeAgentId}', `/v1/runtime-agents/${made.id}`, { active: false })
  await ask('DELETE /v1/runtime-agents/{runtimeAgentId}', `/v1/runtime-agents/${made.id}`, undefined, 204)
  await ask('DELETE /v1/runtime-agents/{runtimeAgentId}', `/v1/runtime-agents/${made.id}`, undefined, 404)
  await ask('GET /v1/models', '/v1/models')
  await ask('GET /v1/models/{model}', '/v1/models/tester')
  await ask('GET /v1/models/{model}', '/v1/models/nobody', undefined, 404)
  await ask('POST /v1/chat/completions', '/v1/chat/completions', { model: 'tester', messages: [{ role: 'user', content: 'Hi' }] })
  await ask('POST /v1/chat/completions', '/v1/chat/completions', { model: 'tester', messages: [{ role: 'user', content: 'Hi' }], stream: true })
  await ask('GET /v1/uploads/settings', '/v1/uploads/settings')
  const part = (name: string, text: string) => `--line\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${text}\r\n`
  const upload = (await ask('POST /v1/threads/{threadId}/files', `${thread}/files`, `${part('visitors.csv', 'city,visitors\nBern,120\n')}${part('empty.txt', '')}--line--\r\n`, 202)).value
  const file = `${thread}/files/${upload.items[0]?.id}`
  await until('the file is read', async () => (await app.inject(file)).json().status === 'completed')
  await ask('GET /v1/threads/{threadId}/files', `${thread}/files`)
  await ask('GET /v1/threads/{threadId}/files/{fileId}', file)
  await ask('GET /v1/threads/{threadId}/files/{fileId}/content', `${file}/content`)
  await ask('POST /v1/threads/{threadId}/files/{fileId}/retry', `${file}/retry`, undefined, 409)
  await ask('POST /v1/threads/{threadId}/files/{fileId}/cancel', `${file}/cancel`, undefined, 409)
  await ask('DELETE /v1/threads/{threadId}/files/{fileId}', file, undefined, 204)
  await ask('POST /api/chat', '/api/chat', { id: 'thread-used', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] })
  await ask('GET /api/chat/{threadId}/stream', '/api/chat/thread-used/stream', undefined, 204)
  await ask('DELETE /v1/threads/{threadId}', thread, undefined, 204)
  await ask('DELETE /v1/threads', '/v1/threads')
  await ask('GET /health', '/health')
  await ask('GET /ready', '/ready')
  await ask('GET /metrics', '/metrics')
  await ask('GET /openapi.json', '/openapi.json')
  t.ok(seen >= 25, `${seen} answers were compared`)
})

t.test('/docs shows the description without anything from elsewhere', async (t) => {
  const { app } = await describedApp(t)
  const page = await app.inject('/docs')
  t.equal(page.statusCode, 200)
  const policy = String(page.headers['content-security-policy'])
  t.match(policy, /default-src 'self'/)
  t.notMatch(policy, /https?:|'unsafe-eval'|script-src[^;]*'unsafe-inline'|upgrade-insecure-requests/)
  const parts = Array.from(page.body.matchAll(/(?:src|href)="([^"]+)"/g), ([, path = '']) => path)
  t.ok(parts.length >= 5)
  for (const part of parts) {
    t.match(part, /^\/docs\/static\//, part)
    t.equal((await app.inject(part)).statusCode, 200, part)
  }
  t.notMatch(page.body, /<script[^>]*>\s*[^<\s]|\son\w+=/, 'no script is in the page itself')
  t.equal((await app.inject('/docs/json')).statusCode, 200)
})

t.test('the address under which clients reach the service is in the description', async (t) => {
  t.strictSame((await describedApp(t, { PUBLIC_URL: 'https://chat.example.com/' })).document.servers, [{ url: 'https://chat.example.com' }])
  t.strictSame((await describedApp(t)).document.servers, [{ url: '/' }])
})

async function describedApp (t: Test, env: Readonly<Record<string, string>> = {}): Promise<TestApp & { document: Document, routes: readonly Route[] }> {
  const started: TestApp[] = []
  const model = scriptedModel([[...toolCall('c1', 'double', { n: 2 }), ...toolCall('c2', 'artifact_sum', { n: 4 })], ['Four']])
  const double = defineTool({ name: 'double', input: z.object({ n: z.number() }), execute: ({ n }) => n * 2 })
  const agents = [{ key: 'tester', tools: [double], artifacts: [defineArtifact({ name: 'sum', data: z.object({ n: z.number() }) })], fileUpload: true }]
  const routes = await routesOf(async () => { started.push(await startApp(t, { model, env, agents, agentKit: kitWith(agents, { model: model.id }), permissions: { agent: [allowAll] } })) })
  const [service] = started
  if (service === undefined) throw new Error('The service did not start')
  const answer = await service.app.inject('/openapi.json')
  t.match(answer.headers['content-type'], /^application\/json/)
  return { ...service, routes, document: answer.json() }
}

function operations ({ paths }: Document): Named[] {
  return Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })))
}

/** Compiles schemas of the document, closed: what is not described is an error here, although clients must expect more. */
function compiler (document: Document): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addFormat('binary', true)
  ajv.addSchema(closed({ $id: 'document', components: document.components }) as object)
  return (schema) => ajv.compile(closed(schema, 'document') as object)
}

function closed (value: unknown, base = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, base))
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === '$ref' ? `${base}${String(inner)}` : closed(inner, base)]))
  return copy['type'] === 'object' && 'properties' in copy && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy
}
