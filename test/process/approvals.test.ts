import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { getJson, post, textIn, until } from '../helpers/app.ts'
import { availableProviders, testDatabaseUrl } from '../helpers/databases.ts'
import { deployment, ensureBuilt, patienceMs, startService, type Service } from '../helpers/process.ts'
import { startScriptedUpstream } from '../helpers/scripted-upstream.ts'

t.setTimeout(300_000)
ensureBuilt()

const ask = (id: string, name: string) => ({ id, name, input: { task: `task ${id}` } })
const send = (id: string, to: string) => ({ id, name: 'send', input: { to } })

/** Tools write down what they do where no kill can take it back; what is sent to "stuck" is sent and never ends. */
const files = {
  'parley.config.mjs': `
    import { appendFileSync } from 'node:fs'
    import { defineTool } from 'parley'
    const schema = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }
    const note = ({ to }) => { appendFileSync('done.log', to + '\\n'); return to === 'stuck' ? new Promise(() => {}) : 'sent to ' + to }
    const tools = [defineTool({ name: 'send', input: schema, needsApproval: true, execute: note }), defineTool({ name: 'free', input: schema, execute: note })]
    const agent = (key, more) => ({ key, model: key, titleGeneration: false, tools, ...more })
    export default {
      agents: [agent('root', { agents: ['a', 'b'] }), agent('a'), agent('b', { needsApproval: true }), agent('in-tool', { agents: ['c'] }), agent('c'), agent('in-model', { agents: ['d'] }), agent('d'), agent('calm')],
      defaultAgent: 'root'
    }`
}

const scripts = {
  root: [{ calls: [ask('da', 'a'), ask('db', 'b')] }, { text: 'Done.' }],
  a: [{ calls: [send('a1', 'first')] }, { calls: [send('a2', 'never-second')] }, { text: 'A is done.' }],
  b: [{ calls: [send('b1', 'third'), { id: 'b2', name: 'free', input: { to: 'free' } }] }, { text: 'B is done.' }],
  'in-tool': [{ calls: [ask('dc', 'c')] }],
  c: [{ calls: [send('c1', 'stuck'), send('c2', 'never-c')] }],
  'in-model': [{ calls: [ask('dd', 'd')] }],
  d: [{ calls: [send('d1', 'sent-by-d'), send('d2', 'never-d')] }, { text: 'I think', hang: true as const }],
  calm: [{ text: 'Calm.' }]
}

interface Pending { readonly id: string, readonly toolName: string, readonly agentPath: ReadonlyArray<{ readonly name: string }>, readonly input: { readonly to?: string } }

/** One thread of a service that is started again and again. */
function threadOf (service: Service, id: string) {
  const thread = `${service.url}/v1/threads/${id}`
  return {
    ask: (agentId: string) => post(`${thread}/messages`, { text: 'Go', agentId }),
    /** By who is asked for: the member's tool, or the tool and what it sends to. */
    pending: async () => new Map((await getJson(`${thread}/approvals`) as { items: Pending[] }).items.map(({ id, toolName, agentPath, input }) => [[...agentPath.map(({ name }) => name), toolName, ...input.to === undefined ? [] : [input.to]].join('/'), id])),
    decide: async (approvalId: string | undefined, approved: boolean) => {
      const response = await fetch(`${service.url}/v1/approvals/${approvalId}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ approved }) })
      return { status: response.status, body: await response.json() as { resumedRunId?: string | null, details?: { reason: string } } }
    },
    atRest: () => until('nothing runs', async () => (await fetch(`${thread}/stream`)).status === 204, patienceMs),
    answer: async () => (await getJson(`${thread}/messages`)).items[1] as { parts: Array<Record<string, unknown>>, metadata: object },
    goesOn: async () => {
      await fetch(thread, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"agentId":"calm"}' })
      return textIn(await post(`${thread}/messages`, { text: 'And now?' }))
    }
  }
}

for (const { provider: database, skip } of await availableProviders()) {
  t.test(`approvals outlive kills: what is allowed runs once, what is denied never (${database})`, { skip }, async (t) => {
    const upstream = await startScriptedUpstream(t, scripts)
    const options = { cwd: await deployment(t, files), env: { OPENAI_BASE_URL: upstream.baseURL, OPENAI_API_KEY: 'test-key', DATABASE_URL: await testDatabaseUrl(t, database) } }
    const log = join(options.cwd, 'done.log')
    const done = () => existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').sort() : []
    const restart = async (old?: Service) => {
      old?.kill('SIGKILL')
      await old?.exited
      return await startService(t, options)
    }

    const first = await restart()
    for (const [id, agent] of [['whole-thread', 'root'], ['cut-in-tool', 'in-tool'], ['cut-in-model', 'in-model']] as const) t.match((await threadOf(first, id).ask(agent)).chunks.at(-1), { finishReason: 'tool-calls' })
    const begun = threadOf(first, 'whole-thread')
    const asked = await begun.pending()
    t.strictSame([...asked.keys()].sort(), ['a/send/first', 'b'])
    t.match(await begun.decide(asked.get('a/send/first'), true), { status: 200, body: { resumedRunId: null } })

    // Killed with one of two decided: what was decided is not asked for again, and has not run.
    const second = await restart(first)
    const whole = threadOf(second, 'whole-thread')
    const left = await whole.pending()
    t.strictSame([...left.keys()], ['b'])
    t.match(await whole.decide(left.get('b'), true), { status: 200, body: { resumedRunId: String } })
    const [inTool, inModel] = [threadOf(second, 'cut-in-tool'), threadOf(second, 'cut-in-model')]
    const cut = new Map([...await inTool.pending(), ...await inModel.pending()])
    t.strictSame([...cut.keys()].sort(), ['c/send/never-c', 'c/send/stuck', 'd/send/never-d', 'd/send/sent-by-d'])
    for (const [what, id] of cut) t.equal((await inTool.decide(id, !what.includes('never'))).status, 200)
    await until('two legs are under way', () => done().includes('stuck') && upstream.askedOf('d')[1]?.state === 'open', patienceMs)
    await whole.atRest()

    // Killed in the middle of two resumed legs, one in its tool and one in its model, and with a third that waits again.
    const third = await restart(second)
    for (const id of ['cut-in-tool', 'cut-in-model']) {
      t.match((await threadOf(third, id).answer()).metadata, { status: 'interrupted' }, id)
      t.equal((await threadOf(third, id).pending()).size, 0)
    }
    const last = threadOf(third, 'whole-thread')
    for (const [what, id] of cut) {
      const approved = !what.includes('never')
      t.match(await last.decide(id, approved), { status: 200, body: { resumedRunId: null } }, 'the same verdict again moves nothing')
      t.match(await last.decide(id, !approved), { status: 409, body: { details: { reason: 'decided' } } })
    }
    const twice = await last.pending()
    t.strictSame([...twice.keys()].sort(), ['a/send/never-second', 'b/send/third'])
    for (const [what, id] of twice) t.equal((await last.decide(id, !what.includes('never'))).status, 200)
    await last.atRest()
    const answer = await last.answer()
    t.match(answer, { metadata: { status: 'completed' } })
    t.strictSame(answer.parts.flatMap(({ toolCallId, state }) => toolCallId === undefined ? [] : [`${String(toolCallId)} ${String(state)}`]).sort(), ['a1 output-available', 'a2 output-denied', 'b1 output-available', 'b2 output-available', 'da output-available', 'db output-available'])
    for (const id of ['whole-thread', 'cut-in-tool', 'cut-in-model']) t.equal(await threadOf(third, id).goesOn(), 'Calm.', id)
    t.strictSame(done(), ['first', 'free', 'sent-by-d', 'stuck', 'third'])
    const timesAsked = Object.keys(scripts).map((model) => [model, upstream.askedOf(model).length])
    t.strictSame(timesAsked, [['root', 2], ['a', 3], ['b', 2], ['in-tool', 1], ['c', 1], ['in-model', 1], ['d', 2], ['calm', 3]], 'a leg goes on where the one before stopped')
  })
}
