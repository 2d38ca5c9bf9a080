import t, { type Test } from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { getJson, post, startApp, until } from '../../helpers/app.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { send } from '../request.ts'

t.test('a run is shown by its id', async (t) => {
  const { url, say } = await start(t)
  const { runId, messageId } = await say('Hello')
  t.match(await getJson(`${url}/v1/runs/${runId}`), { id: runId, threadId: 'thread-one', messageId, agentId: agentId('tester'), status: 'completed' })
})

t.test("a run's events are read from any position, by query or by the header of a client that came back", async (t) => {
  const { url, say } = await start(t)
  const { runId } = await say('Hello')
  const all = await events(`${url}/v1/runs/${runId}/events`)
  t.strictSame(all.map(({ seq }) => seq), all.map((_, index) => index))
  t.equal(all[0]?.type, 'message-start')
  t.equal(all.at(-1)?.type, 'run-completed')
  t.strictSame(await events(`${url}/v1/runs/${runId}/events?after=2`), all.slice(3))
  t.strictSame(await events(`${url}/v1/runs/${runId}/events`, { 'last-event-id': '2' }), all.slice(3))
  t.strictSame(await events(`${url}/v1/runs/${runId}/events?after=-1`), all)
  t.strictSame(await events(`${url}/v1/runs/${runId}/events?after=100000`), [])
})

t.test('a run is stopped by its id, as often as one likes', async (t) => {
  const { url, model, say } = await start(t, [['Be', { hang: true }]])
  const asked = say('Hello')
  await until('the model is asked', () => model.requests.length === 1)
  await until('there is something to show', async () => (await getJson(`${url}/v1/threads/thread-one/messages?include=streaming`)).items[1]?.parts.length === 2)
  const runId = (await getJson(`${url}/v1/threads/thread-one/messages?include=streaming`)).items[1].metadata.runId
  for (let n = 0; n < 2; n++) t.strictSame((await send(url, 'POST', `/v1/runs/${runId}/stop`)).json, { runId })
  await asked
  t.match(await getJson(`${url}/v1/runs/${runId}`), { status: 'stopped' })
})

async function events (url: string, headers: Record<string, string> = {}): Promise<Array<{ seq: number, type: string }>> {
  const response = await fetch(url, { headers })
  const body = await response.text()
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}

async function start (t: Test, script: Parameters<typeof scriptedModel>[0] = [['Hel', 'lo']]) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model })
  return { url, model, say }

  async function say (text: string) {
    const { chunks, headers } = await post(`${url}/v1/threads/thread-one/messages`, { text })
    return { runId: headers.get('x-run-id'), messageId: chunks[0]?.['messageId'] }
  }
}
