import t, { type Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { defineArtifact } from '../../../src/artifacts/artifact.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, openStream, post, startApp, until, type Streamed } from '../../helpers/app.ts'
import { availableProviders, testDatabaseUrl, type TestProvider } from '../../helpers/databases.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

const report = defineArtifact({ name: 'report', title: 'Report', description: 'A written report.', data: z.object({ title: z.string(), pages: z.number().int().default(1) }) })
const submit = (callId: string, input: unknown) => toolCall(callId, 'artifact_report', input)
const gated = defineTool({ name: 'gated', needsApproval: true, execute: () => 'allowed' })

for (const { provider, skip } of await availableProviders()) {
  t.test(provider, { skip }, async (t) => {
    t.test('what a model submits is its part of the answer, is listed, and the model gets its id', async (t) => {
      const { ask, artifacts, messages, model } = await serve(t, { artifacts: [report] }, [submit('c1', { title: 'Tides', extra: 1 }), ['Done.'], ['Yes.']], provider)
      const { chunks } = await ask('Write it')
      t.match(model.requests[0]?.tools, [{ name: 'artifact_report', description: 'A written report.', parameters: { properties: { title: {}, pages: {} } } }])
      const available = chunkOf(chunks, 'tool-input-available')
      t.strictSame(available, { type: 'tool-input-available', toolCallId: 'c1', toolName: 'artifact_report', input: { title: 'Tides', pages: 1 }, providerMetadata: { parley: { artifact: 'report' } } })
      const { artifactId } = outputOf(chunks, 'c1')
      t.strictSame(model.requests[1]?.messages.at(-1), { role: 'tool', callId: 'c1', toolName: 'artifact_report', content: JSON.stringify({ artifactId }) })

      const { items: [question, answer] } = await getJson(messages)
      t.ok(question)
      t.match(answer.parts[1], { type: 'tool-artifact_report', toolCallId: 'c1', state: 'output-available', input: { title: 'Tides', pages: 1 }, output: { artifactId } })
      t.match(await artifacts(), {
        items: [{ id: artifactId, threadId: 'thread-one', messageId: answer.id, runId: answer.metadata.runId, name: 'report', data: { title: 'Tides', pages: 1 }, callId: 'c1', sourceCallId: null, agentPath: [], createdAt: /Z$/ }],
        nextCursor: null
      })

      await ask('And?')
      t.match(model.requests[2]?.messages.slice(1, 3), [{ toolCalls: [{ callId: 'c1', toolName: 'artifact_report' }] }, { content: JSON.stringify({ artifactId }) }], 'the call is told again, as any other')
    })

    t.test('data that does not fit is the model’s to mend', async (t) => {
      const { ask, artifacts, model } = await serve(t, { artifacts: [report] }, [submit('c1', { title: 7 }), submit('c2', { title: 'Seven' }), ['Done.']], provider)
      const { chunks } = await ask('Write it')
      t.match(model.requests[1]?.messages[2], { role: 'tool', callId: 'c1', content: /"artifact_report" do not fit: title: / })
      t.match(chunkOf(chunks, 'tool-input-error'), { toolCallId: 'c1', errorText: /title: / })
      t.match((await artifacts()).items, [{ callId: 'c2', data: { title: 'Seven' } }])
      t.equal((await artifacts()).items.length, 1)
    })

    t.test('the list is paged, newest first, whatever comes meanwhile', async (t) => {
      const three = [...submit('a', { title: '1' }), ...submit('b', { title: '2' }), ...submit('c', { title: '3' })]
      const { ask, artifacts, url } = await serve(t, { artifacts: [report] }, [three, ['ok'], submit('d', { title: '4' }), ['ok'], submit('e', { title: '5' }), ['ok']], provider)
      await ask('three')
      await ask('one')
      const first = await artifacts('?limit=3')
      t.strictSame(titles(first), ['4', '3', '2'])
      await ask('another')
      const second = await artifacts(`?limit=3&cursor=${first.nextCursor}`)
      t.strictSame([titles(second), second.nextCursor], [['1'], null])
      t.strictSame(titles(await artifacts()), ['5', '4', '3', '2', '1'])
      refused(t, await send(url, 'GET', '/v1/threads/thread-one/artifacts?cursor=x'), { status: 400, code: 'invalid_request', path: 'cursor' }, 'a made up cursor')
      refused(t, await send(url, 'GET', '/v1/threads/thread-none/artifacts'), { status: 404, code: 'not_found' }, 'no such thread')
    })

    t.test('an artifact goes and comes back with its message, and goes with its thread', async (t) => {
      const { ask, artifacts, messages, url } = await serve(t, { artifacts: [report] }, [submit('c1', { title: '1' }), ['ok'], submit('c2', { title: '2' }), ['ok']], provider)
      await ask('one')
      const { items: [, answer] } = await getJson(messages)
      await send(url, 'DELETE', `/v1/threads/thread-one/messages/${answer.id}`)
      t.strictSame(titles(await artifacts()), [])
      await send(url, 'POST', `/v1/threads/thread-one/messages/${answer.id}/restore`)
      t.strictSame(titles(await artifacts()), ['1'])
      await post(messages, { trigger: 'regenerate-message' })
      t.strictSame(titles(await artifacts()), ['2', '1'], 'branches keep theirs')
      await send(url, 'DELETE', '/v1/threads/thread-one')
      t.equal((await send(url, 'GET', '/v1/threads/thread-one/artifacts')).status, 404)
      await ask('again')
      t.strictSame(titles(await artifacts()), [], 'a thread of the same name has none of them')
    })

    t.test('what was made before a stop stays; nothing is listed before its message', async (t) => {
      const { artifacts, messages, url } = await serve(t, { artifacts: [report] }, [submit('c1', { title: 'Early' }), ['half', { hang: true }]], provider)
      const stream = await openStream(messages, { text: 'Write it' })
      await until('the answer goes on', () => stream.text() === 'half')
      t.strictSame(titles(await artifacts()), [])
      await send(url, 'POST', '/v1/threads/thread-one/stop')
      await stream.ended
      t.strictSame(titles(await artifacts()), ['Early'])
      t.match((await getJson(messages)).items[1], { metadata: { status: 'stopped' }, parts: [{}, { type: 'tool-artifact_report' }] })
    })

    t.test('a run that waits has made its artifacts, once', async (t) => {
      const script = [[...submit('c1', { title: 'First' }), ...toolCall('g1', 'gated')], submit('c2', { title: 'Then' }), ['Done.']]
      const { ask, artifacts, url, model } = await serve(t, { artifacts: [report], tools: [gated] }, script, provider)
      await ask('Both')
      const before = await artifacts()
      t.strictSame(titles(before), ['First'])
      const { items: [approval] } = await getJson(`${url}/v1/threads/thread-one/approvals`)
      await post(`${url}/v1/approvals/${approval.id}`, { approved: true })
      await until('it has gone on', async () => model.requests.length === 3 && (await fetch(`${url}/v1/threads/thread-one/stream`)).status === 204)
      const after = await artifacts()
      t.strictSame(titles(after), ['Then', 'First'])
      t.strictSame(after.items[1], before.items[0], 'the first is as it was')
    })
  })
}

interface Listed { readonly items: ReadonlyArray<{ readonly id: string, readonly callId: string, readonly data: { readonly title: string } }>, readonly nextCursor: string | null }

function titles ({ items }: Listed): string[] {
  return items.map(({ data }) => data.title)
}

function chunkOf (chunks: Streamed['chunks'], type: string, callId?: string) {
  return chunks.find((chunk) => chunk.type === type && (callId === undefined || chunk['toolCallId'] === callId))
}

function outputOf (chunks: Streamed['chunks'], callId: string): { artifactId: string } {
  return chunkOf(chunks, 'tool-output-available', callId)?.['output'] as { artifactId: string } // compared with what is listed
}

async function serve (t: Test, agent: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]>, provider?: TestProvider) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', ...agent }], databaseUrl: await testDatabaseUrl(t, provider) })
  const thread = `${url}/v1/threads/thread-one`
  const artifacts = async (query = ''): Promise<Listed> => await getJson(`${thread}/artifacts${query}`)
  return { url, model, messages: `${thread}/messages`, artifacts, ask: (text: string) => post(`${thread}/messages`, { text }) }
}
