import t, { type Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { defineArtifact, type Artifact, type ArtifactContext } from '../../../src/artifacts/artifact.ts'
import { createArtifactService } from '../../../src/artifacts/artifact-service.ts'
import { fileArtifact, threadFile } from '../../../src/artifacts/file-artifact.ts'
import { createPermissions } from '../../../src/auth/permissions.ts'
import { anonymous } from '../../../src/auth/principal.ts'
import { createThreadAccess } from '../../../src/threads/thread-access.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { agentOf } from '../../helpers/agents.ts'
import { getJson, post, startApp } from '../../helpers/app.ts'
import { startConfigured } from '../../helpers/integrations.ts'
import { loggedService } from '../../helpers/logged.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

t.test('readers of the list are given what an artifact resolves to, and history what was stored', async (t) => {
  const asked: ArtifactContext[] = []
  const { log, lines } = loggedService()
  const kinds = {
    chart: defineArtifact({ name: 'chart', data: z.object({ key: z.string() }), resolve: async ({ key }, context) => { asked.push(context); return { key, url: `${context.baseUrl}/charts/${key}?for=${context.principal.userId}`, at: new Date(0) } } }),
    broken: defineArtifact({ name: 'broken', data: z.object({ key: z.string() }), resolve: (data) => { data.key = 'changed'; throw new Error('SECRET') } }),
    plain: defineArtifact({ name: 'plain', data: z.object({ key: z.string() }) })
  }
  const calls = Object.keys(kinds).flatMap((name) => toolCall(`c-${name}`, `artifact_${name}`, { key: name }))
  const { url, list } = await serve(t, { artifacts: Object.values(kinds) }, calls, { log, env: { PUBLIC_URL: 'https://chat.example' } })
  const { items } = await list()
  t.strictSame(items.map(({ data }) => data), [{ key: 'plain' }, { key: 'broken' }, { key: 'chart', url: 'https://chat.example/charts/chart?for=anonymous', at: '1970-01-01T00:00:00.000Z' }])
  t.match(asked, [{ threadId: 'thread-one', artifactId: items[2]?.id, messageId: items[2]?.messageId, signal: AbortSignal }])
  t.match(lines.filter(({ level }) => level >= 40), [{ artifact: 'broken', msg: 'an artifact could not be resolved' }])
  t.match((await getJson(`${url}/v1/threads/thread-one/messages`)).items[1].parts[1], { type: 'tool-artifact_chart', input: { key: 'chart' } })
})

t.test('what takes too long to resolve, or is not configured any more, is as it was stored', async (t) => {
  const stored = { id: 'a1', name: 'slow', data: { n: 1 }, callId: 'c1', sourceCallId: undefined, agentPath: [], threadId: 't1', messageId: 'm1', runId: 'r1', createdAt: new Date() }
  const slow = defineArtifact({ name: 'slow', data: z.object({ n: z.number() }), resolve: async () => await new Promise(() => {}) })
  const agent = agentOf({ toolArtifacts: { look: { artifact: slow, build: () => null } } }, 'test:model')
  const log = recordingLog()
  const items = ['tester', 'gone'].map((agentId) => ({ ...stored, agentId })).concat([{ ...stored, agentId: 'tester', name: 'unknown' }])
  const access = createThreadAccess({ permissions: createPermissions(), store: { locate: async () => [] } })
  const service = createArtifactService({ access, store: { list: async () => ({ items, nextCursor: undefined }) }, agents: { find: (id) => id === 'tester' ? agent : undefined }, log, resolveMs: 20 })
  t.strictSame((await service.list(anonymous, 't1', { limit: 5, baseUrl: '' })).items, items)
  t.match(log.lines, [{ level: 'warn', fields: { artifact: 'slow' } }])
  t.equal(log.lines.length, 1)
})

t.test('files are given by fileArtifact, with whole addresses for whoever lists them', async (t) => {
  const find = defineTool({ name: 'find', execute: () => [{ id: 'file-1', name: 'Prices.csv' }] })
  const build = (_args: unknown, result: unknown, context: { threadId: string | undefined }) => ({ files: (result as { id: string, name: string }[]).map(({ id, name }) => threadFile(context, { fileId: id, name, mediaType: 'text/csv' })) })
  const { list, ask } = await serve(t, { tools: [find], artifacts: [fileArtifact], toolArtifacts: { find: { artifact: fileArtifact, build } } }, [
    ...toolCall('c1', 'find'),
    ...toolCall('c2', 'artifact_file', { files: [{ name: 'Elsewhere', url: 'https://files.example/a.pdf' }, { name: 'Here', url: '/own' }] }),
    ...toolCall('c3', 'artifact_file', { files: [{ name: 'Bad', url: 'javascript:alert(1)' }] }),
    ...toolCall('c4', 'artifact_file', { files: [{ name: 'Foreign', url: '//evil.example/x' }] }),
    ...toolCall('c5', 'artifact_file', { files: [{ name: 'Nothing' }] })
  ], { env: { PUBLIC_URL: 'https://chat.example' } })
  const { items } = await list()
  t.equal(items.length, 2)
  const path = '/v1/threads/thread-one/files/file-1/content'
  t.match(items.map(({ data }) => data).filter(({ files }) => files.length === 1), [{ files: [{ fileId: 'file-1', name: 'Prices.csv', mediaType: 'text/csv', url: `https://chat.example${path}` }] }])
  t.match(items.map(({ data }) => data).filter(({ files }) => files.length === 2), [{ files: [{ url: 'https://files.example/a.pdf' }, { url: 'https://chat.example/own' }] }])
  t.match(ask.body, new RegExp(`"url":"${path}"`), 'live it is a path')
})

t.test('an agent in YAML has artifacts by JSON schemas', async (t) => {
  const data = { type: 'object', properties: { title: { type: 'string' }, pages: { type: 'integer' } }, required: ['title'] }
  const config = JSON.stringify({ agents: [{ key: 'tester', titleGeneration: false, artifacts: [{ name: 'report', title: 'Report', data }] }] })
  const { url } = await startConfigured(t, { config, model: scriptedModel([toolCall('c1', 'artifact_report', { pages: 'x' }), toolCall('c2', 'artifact_report', { title: 'Tides', pages: 3 }), ['Done.']]) })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Go' })
  t.match(await getJson(`${url}/v1/threads/thread-one/artifacts`), { items: [{ name: 'report', data: { title: 'Tides', pages: 3 }, callId: 'c2' }] })
  t.match(await getJson(`${url}/v1/agents/tester/tools`), { tools: [{ name: 'artifact_report', label: 'Report' }] })
})

t.test('the offline model submits what the user names', async (t) => {
  const { url } = await startConfigured(t, { config: JSON.stringify({ agents: [{ key: 'tester', artifacts: [{ name: 'report', data: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } }] }] }) })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Make an artifact report with title: Tides' })
  t.match(await getJson(`${url}/v1/threads/thread-one/artifacts`), { items: [{ name: 'report', data: { title: 'Tides' } }] })
})

interface Listed { readonly id: string, readonly messageId: string, readonly data: { readonly files: readonly unknown[] } }

async function serve (t: Test, agent: Partial<AgentDefinition> & { readonly artifacts: readonly Artifact[] }, calls: ReturnType<typeof toolCall>, options: Partial<Parameters<typeof startApp>[1]> = {}) {
  const { url } = await startApp(t, { model: scriptedModel([calls, ['Done.']]), agents: [{ key: 'tester', ...agent, artifacts: [...agent.artifacts] }], ...options })
  const ask = await post(`${url}/v1/threads/thread-one/messages`, { text: 'Go' })
  return { url, ask, list: async (): Promise<{ items: readonly Listed[] }> => await getJson(`${url}/v1/threads/thread-one/artifacts`) }
}
