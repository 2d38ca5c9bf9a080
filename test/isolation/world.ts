import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { z } from 'zod'
import { defineArtifact } from '../../src/artifacts/artifact.ts'
import { definePermission } from '../../src/auth/permission.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { kitWith } from '../helpers/agents.ts'
import { startApp, until, type TestApp } from '../helpers/app.ts'
import { callersWithKeys, type Caller } from '../helpers/callers.ts'
import { testDatabaseUrl, type TestProvider } from '../helpers/databases.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { uploadBody, type Ids } from './cases.ts'
import { routesOf, type Route } from './routes.ts'

export type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'body' | 'headers' | 'json'>

export interface World {
  readonly routes: readonly Route[]
  /** Ada, whose things they are; Bob of the same tenant; and another Ada of another tenant. */
  readonly ada: Caller
  readonly strangers: readonly Caller[]
  /** Carol of Ada's tenant, who may see agents and threads of everybody and do nothing; and Eve, who may the same in another tenant. */
  readonly carol: Caller
  readonly eve: Caller
  /** A thread with a rated answer, one with an answer that is being written, and one that waits for an approval. */
  readonly adas: readonly Ids[]
  /** A thread of each stranger, with an answer. */
  readonly ownThread: (stranger: Caller) => string
  ask: (caller: Caller | undefined, method: string, url: string, body?: unknown) => Promise<Answer>
  /** All of Ada's that can be read. */
  snapshot: () => Promise<unknown>
}

const byId = {
  'test:quick': scriptedModel([['Answer']]),
  'test:slow': scriptedModel([['Slow', { hang: true }]]),
  'test:gated': scriptedModel([[...toolCall('c1', 'send', { secret: 'ADAS-INPUT' }), ...toolCall('c2', 'artifact_note', { secret: 'ADAS-ARTIFACT' })]])
}
const models = { get: (id: string) => byId[id as keyof typeof byId], defaultModel: 'test:quick' } // the agents name no others
const send = defineTool({ name: 'send', input: z.object({ secret: z.string() }), needsApproval: true, execute: () => 'sent' })
const note = defineArtifact({ name: 'note', data: z.object({ secret: z.string() }) })
const agents = [
  { key: 'quick', model: 'test:quick', fileUpload: true },
  { key: 'slow', model: 'test:slow', fileUpload: true },
  { key: 'gated', model: 'test:gated', fileUpload: true, tools: [send], artifacts: [note] }
]

const isReader = ({ roles }: { readonly roles: readonly string[] }) => roles.includes('reader')
const permissions = {
  thread: [definePermission({ filter: (principal, operation) => isReader(principal) ? operation === 'view_thread' ? 'all' : 'none' : 'own' })],
  agent: [definePermission({ filter: (principal, operation) => isReader(principal) && operation !== 'view_agent' ? 'none' : 'all' })]
}

export async function buildWorld (t: Test, provider: TestProvider): Promise<World> {
  const { callers, env } = callersWithKeys('ada@north', 'bob@north', 'ada@south', 'carol@north+reader', 'eve@south+reader')
  const [ada, ...strangers] = [callers['ada@north'], callers['bob@north'], callers['ada@south']]
  const databaseUrl = await testDatabaseUrl(t, provider)
  const started: TestApp[] = []
  const routes = await routesOf(async () => { started.push(await startApp(t, { models, agents, agentKit: kitWith(agents, { model: 'test:quick' }), env, permissions, databaseUrl })) })
  const [service] = started
  if (service === undefined) throw new Error('The service did not start')

  const ask: World['ask'] = async (caller, method, url, body) => {
    const options: InjectOptions = { method: method as 'GET', url, ...(caller === undefined ? {} : { headers: caller.headers }) } // any method is one of those that Fastify lists
    if (Buffer.isBuffer(body)) return await upload(`${service.url}${url}`, method, { ...caller?.headers, 'content-type': 'multipart/form-data; boundary=bnd' }, body)
    return await service.app.inject(body === undefined ? options : { ...options, payload: body as object }) // JSON
  }
  const ownThread = (stranger: Caller) => `thread-of-${stranger.user}-${stranger.tenant}`
  for (const stranger of strangers) await ask(stranger, 'POST', `/v1/threads/${ownThread(stranger)}/messages`, { text: 'Mine' })

  await ask(ada, 'POST', '/v1/threads/adas-thread/messages', { text: 'ADAS-QUESTION' })
  const live = await service.app.chat.takeTurn({ tenantId: ada.tenant, userId: ada.user, roles: [] }, { threadId: 'adas-live', agentId: 'slow', metadata: undefined, request: { kind: 'message', parts: [{ type: 'text', text: 'ADAS-QUESTION' }] } })
  await until('what the slow answer says is stored', async () => (await ask(ada, 'GET', '/v1/threads/adas-live/messages?include=streaming')).body.includes('Slow'))
  await ask(ada, 'POST', '/v1/threads/adas-gated/messages', { text: 'ADAS-QUESTION', agentId: 'gated' })
  const { items: [approval] } = (await ask(ada, 'GET', '/v1/threads/adas-gated/approvals')).json()
  if (!(await ask(ada, 'GET', '/v1/threads/adas-gated/artifacts')).body.includes('ADAS-ARTIFACT')) throw new Error('There is no artifact')
  const { id: runtimeAgentId } = (await ask(ada, 'POST', '/v1/runtime-agents', { base: 'quick', name: 'NORTHS-AGENT', instructions: 'NORTHS-INSTRUCTIONS' })).json()
  const adas = await Promise.all(['adas-thread', 'adas-live', 'adas-gated'].map(async (threadId) => {
    const answer = (await ask(ada, 'GET', `/v1/threads/${threadId}/messages?include=streaming`)).json().items[1]
    const uploaded = await ask(ada, 'POST', `/v1/threads/${threadId}/files`, uploadBody('ADAS-FILE'))
    if (uploaded.statusCode !== 202) throw new Error(`The upload was refused: ${uploaded.body}`)
    const { items: [file] } = uploaded.json()
    await until('the file is read', async () => (await ask(ada, 'GET', `/v1/threads/${threadId}/files/${file.id}`)).json().status === 'completed')
    return { threadId, messageId: String(answer.id), runId: String(answer.metadata.runId ?? live.runId), fileId: String(file.id), approvalId: String(approval.id), runtimeAgentId: String(runtimeAgentId) }
  }))
  await ask(ada, 'PUT', `/v1/threads/adas-thread/messages/${adas[0]?.messageId}/rating`, { rating: 1, comment: 'ADAS-COMMENT' })

  return {
    routes, ada, strangers, carol: callers['carol@north+reader'], eve: callers['eve@south+reader'], adas, ownThread, ask,
    async snapshot () {
      const paths = ['/v1/threads', `/v1/runtime-agents/${runtimeAgentId}`, ...adas.flatMap(({ threadId, messageId, runId }) => [
        `/v1/threads/${threadId}`, `/v1/threads/${threadId}/approvals`, `/v1/threads/${threadId}/artifacts`, `/v1/threads/${threadId}/files`, `/v1/threads/${threadId}/messages?include=streaming`, `/v1/threads/${threadId}/usage`, `/v1/threads/${threadId}/messages/${messageId}/siblings`, `/v1/runs/${runId}`
      ])]
      return await Promise.all(paths.map(async (path) => {
        const answer = await ask(ada, 'GET', path)
        if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${answer.body}`)
        return answer.json()
      }))
    }
  }
}

/** Over a socket, which an upload's time limit is set on. */
async function upload (url: string, method: string, headers: Record<string, string>, body: Buffer): Promise<Answer> {
  const response = await fetch(url, { method, headers, body })
  const text = await response.text()
  return { statusCode: response.status, body: text, headers: Object.fromEntries(response.headers), json: () => JSON.parse(text) }
}
