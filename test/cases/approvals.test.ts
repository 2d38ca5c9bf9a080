import t from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { getJson, until } from '../helpers/app.ts'
import { availableProviders, testDatabaseUrl } from '../helpers/databases.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, sameAfterReload, seen, startCaseService, unfinished, type CaseService } from './case-service.ts'

const upstream = await startCasesUpstream(t, { TOOL0: 'send', TOOL1: 'send', ARGS0: '{"to":"ada"}', ARGS1: '{"to":"bob"}' })

interface Pending { readonly id: string, readonly toolName: string, readonly input: { readonly to: string } }

function gated () {
  const sent: string[] = []
  return { sent, tool: defineTool({ name: 'send', input: z.object({ to: z.string() }), needsApproval: true, execute: ({ to }) => { sent.push(to); return `sent to ${to}` } }) }
}

const pending = async ({ url }: CaseService, threadId: string) => (await getJson(`${url}/v1/threads/${threadId}/approvals`) as { items: Pending[] }).items

async function decide ({ url }: CaseService, id: string | undefined, body: object): Promise<number> {
  return (await fetch(`${url}/v1/approvals/${id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).status
}

async function answerOf (service: CaseService, threadId: string) {
  await until('nothing runs', async () => (await fetch(`${service.url}/v1/threads/${threadId}/stream`)).status === 204)
  const answer = (await service.history(threadId)).at(-1)
  if (answer === undefined) throw new Error('There is no answer')
  return answer
}

for (const { provider, skip } of await availableProviders()) {
  t.test(`T13: what waits for approval waits after a restart too, and runs once with what was shown (${provider})`, { skip }, async (t) => {
    const databaseUrl = await testDatabaseUrl(t, provider)
    const before = gated()
    const agents = ({ tool }: ReturnType<typeof gated>) => [caseAgent('M05', { tools: [tool] }), caseAgent(controlCase, { tools: [tool] })]
    const first = await startCaseService(t, upstream, { agents: agents(before), databaseUrl })
    const threadId = newThreadId()
    await sameAfterReload(t, first, threadId, await first.ask(threadId, 'Go'))
    await first.app.close()

    const after = gated()
    const second = await startCaseService(t, upstream, { agents: agents(after), databaseUrl })
    const [approval] = await pending(second, threadId)
    t.match(approval, { toolName: 'send', input: { to: 'ada' } })
    t.match((await second.history(threadId)).at(-1)?.parts.at(-1), { state: 'approval-requested', approval: { id: approval?.id } })
    for (const time of ['first', 'second']) t.equal(await decide(second, approval?.id, { approved: true }), 200, time)
    const answer = await answerOf(second, threadId)
    t.match(seen(answer), { text: 'AFTER-TOOL', calls: [{ name: 'send', state: 'output-available', input: { to: 'ada' } }] })
    t.strictSame([before.sent, after.sent], [[], ['ada']])
    await nextMessageWorks(t, second, threadId)
  })
}

t.test('T16: two approvals of one batch are two, each ends, and one request follows with both results', async (t) => {
  const { sent, tool } = gated()
  const service = await startCaseService(t, upstream, { agents: [caseAgent('S25', { tools: [tool] }), caseAgent(controlCase, { tools: [tool] })] })
  const threadId = newThreadId()
  const asked = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go'))
  t.strictSame(seen(asked).calls, [{ name: 'send', state: 'approval-requested', input: { to: 'ada' } }, { name: 'send', state: 'approval-requested', input: { to: 'bob' } }])
  const approvals = await pending(service, threadId)
  t.strictSame(approvals.map(({ input }) => input.to).sort(), ['ada', 'bob'])
  const idOf = (name: string) => approvals.find(({ input }) => input.to === name)?.id
  t.equal(await decide(service, idOf('ada'), { approved: true }), 200)
  t.equal(await decide(service, idOf('bob'), { approved: false, reason: 'Not him.' }), 200)
  const answer = await answerOf(service, threadId)
  t.strictSame(seen(answer).calls.map(({ state }) => state), ['output-available', 'output-denied'])
  t.equal(seen(answer).text, 'AFTER-TOOL')
  t.strictSame(unfinished(answer), [])
  t.strictSame(sent, ['ada'])
  const requests = await service.requests()
  t.equal(requests.length, 2, 'one request follows')
  t.match(requests[1]?.body.messages.slice(-2), [{ role: 'tool', content: 'sent to ada' }, { role: 'tool', content: 'Denied: Not him.' }])
  await nextMessageWorks(t, service, threadId)
})
