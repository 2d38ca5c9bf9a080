import t from 'tap'
import { z } from 'zod'
import type { AttachmentToolsHook } from '../../../src/agents/hooks.ts'
import { denyAll } from '../../../src/auth/shipped-permissions.ts'
import { AppError } from '../../../src/errors.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const look = defineTool({ name: 'look', input: z.object({ at: z.string() }), execute: ({ at }) => `saw ${at}` })
const ask = (id: string, member: string, task = `task ${id}`) => toolCall(id, member, { task })

/** A model for each agent, by key; agents name them `test:<key>`. */
function modelsOf (scripts: Readonly<Record<string, ReadonlyArray<readonly ScriptStep[]>>>) {
  const models = Object.fromEntries(Object.entries(scripts).map(([key, responses]) => [`test:${key}`, scriptedModel(responses, { id: `test:${key}` })]))
  return { models, model: models['test:root']! }
}

const root = { key: 'root', model: 'test:root', agents: ['researcher'] }
const researcher = { key: 'researcher', name: 'Researcher', description: 'Looks things up.', model: 'test:researcher', tools: [look] }

t.test('a coordinator is told of its crew and asks a member, whose report comes back as the result', async (t) => {
  const { models, model } = modelsOf({
    root: [ask('d1', 'researcher', 'find the sea'), ['It is blue.']],
    researcher: [toolCall('c1', 'look', { at: 'sea' }), ['The sea is blue.']]
  })
  const { of, text, end } = await run(t, { model, models, agent: root, crew: [researcher] })
  t.match(model.requests[0]!.instructions, /Available subagents:\n- Researcher: Looks things up\.$/)
  t.match(model.requests[0]!.tools, [{ name: 'researcher', parameters: { required: ['task'] } }])
  t.strictSame(models['test:researcher']!.requests[0]!.messages.slice(0, 1), [{ role: 'user', content: 'find the sea' }], 'a member sees its task only')
  t.equal(text, 'It is blue.', 'what a member says is not the answer')
  t.strictSame(of('tool-output').map(({ callId, output }) => [callId, output]), [
    ['c1', 'saw sea'],
    ['d1', 'The sea is blue.\n\nSources consulted:\n- look({"at":"sea"})']
  ])
  const path = [{ agentId: of('tool-call-start')[1]!.agentPath![0]!.agentId, name: 'Researcher', toolCallId: 'd1' }]
  t.strictSame(of('tool-call-start').map(({ callId, handoff, agentPath }) => [callId, handoff, agentPath]), [['d1', 'Researcher', undefined], ['c1', undefined, path]])
  t.strictSame(of('usage').map(({ agentPath, model }) => [agentPath?.[0]?.name, model]), [[undefined, 'test:root'], ['Researcher', 'test:researcher'], ['Researcher', 'test:researcher'], [undefined, 'test:root']])
  t.match(of('message-end'), [{ usage: { input: 40, output: 20 } }])
  t.match(end, { type: 'run-completed' })
})

t.test('`prompt` is accepted for `task`; a call without either is refused', async (t) => {
  const { models, model } = modelsOf({ root: [toolCall('d1', 'researcher', { prompt: 'find it' }), toolCall('d2', 'researcher', {}), ['Done.']], researcher: [['Found.']] })
  const { of } = await run(t, { model, models, agent: root, crew: [researcher] })
  t.match(of('tool-input-complete'), [{ input: { task: 'find it' } }])
  t.match(of('tool-input-invalid'), [{ callId: 'd2', message: /task/ }])
})

t.test('two calls of one member in parallel are two frames', async (t) => {
  const { models, model } = modelsOf({ root: [[...ask('d1', 'researcher'), ...ask('d2', 'researcher')], ['Both.']], researcher: [['One ', { waitMs: 5 }, 'report.']] })
  const { of } = await run(t, { model, models, agent: { ...root, subagentStream: 'full' }, crew: [researcher] })
  t.strictSame(of('subagent-end').map(({ frameId, text, status }) => [frameId, text, status]).sort(), [['d1', 'One report.', 'completed'], ['d2', 'One report.', 'completed']])
  t.ok(of('text-delta').some(({ agentPath }) => agentPath?.[0]?.toolCallId === 'd1'), 'in full, every part of it')
})

t.test('a call of a member whose input is refused, or cut short by a stop, is told as the member’s', async (t) => {
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [toolCall('c1', 'look', { at: 5 }), [...toolCall('c2', 'look', '{"at"').slice(0, 2), { hang: true }]] })
  const stop = new AbortController()
  const { of } = await run(t, { model, models, agent: root, crew: [researcher], signal: stop.signal, onEvent: (event) => { if (event.type === 'tool-input-delta' && event.callId === 'c2') stop.abort() } })
  t.strictSame(of('tool-input-invalid'), [])
  t.match(of('tool-input-complete').slice(1), [{ callId: 'c1', input: { at: 5 }, agentPath: [{ name: 'Researcher' }] }, { callId: 'c2', agentPath: [{ name: 'Researcher' }] }])
  t.match(of('tool-error').filter(({ callId }) => callId !== 'd1'), [{ callId: 'c1', message: /at/, agentPath: [{ name: 'Researcher' }] }, { callId: 'c2', agentPath: [{ name: 'Researcher' }] }])
})

t.test('`none` shows nothing of members but what they cost', async (t) => {
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [toolCall('c1', 'look', { at: 'x' }), ['Report.']] })
  const { events } = await run(t, { model, models, agent: { ...root, subagentStream: 'none' }, crew: [researcher] })
  t.strictSame([...new Set(events.filter(({ agentPath }) => agentPath !== undefined).map(({ type }) => type))], ['usage'])
})

t.test('a member that hands over answers in the place of its coordinator, whose model is not asked again', async (t) => {
  const { models, model } = modelsOf({ root: [['I pass you on.', ...ask('d1', 'researcher')], ['never']], researcher: [['Hello ', 'from me.']] })
  const { text, of, end, events } = await run(t, { model, models, agent: { ...root, agents: [{ agent: 'researcher', mode: 'handover' }] }, crew: [researcher] })
  t.equal(text, 'I pass you on.Hello from me.')
  t.match(of('tool-output'), [{ callId: 'd1', output: { handedOver: true } }])
  t.ok(events.filter(({ type }) => type === 'text-delta').every(({ agentPath }) => agentPath === undefined))
  t.equal(model.requests.length, 1)
  t.match(end, { type: 'run-completed' })
})

t.test('of two handovers in one batch the second is heard after the first', async (t) => {
  const slow: ScriptStep[] = ['a1 ', { waitMs: 20 }, 'a2']
  const { models, model } = modelsOf({ root: [[...ask('d1', 'a'), ...ask('d2', 'b')]], a: [slow], b: [[{ waitMs: 5 }, 'b1 ', 'b2']] })
  const member = (key: string) => ({ key, model: `test:${key}` })
  const { text } = await run(t, { model, models, agent: { ...root, agents: [{ agent: 'a', mode: 'handover' }, { agent: 'b', mode: 'handover' }] }, crew: [member('a'), member('b')] })
  t.equal(text, 'a1 a2b1 b2')
})

t.test('a member that fails is an error its coordinator can react to', async (t) => {
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Without it then.']], researcher: [['Half', { throw: new AppError('provider_unavailable', 'The model did not answer.') }]] })
  const { of, text, end } = await run(t, { model, models, agent: { ...root, subagentStream: 'full' }, crew: [researcher] })
  t.match(of('tool-error'), [{ callId: 'd1', code: 'provider_unavailable', message: 'The agent "Researcher" did not finish: The model did not answer.' }])
  t.match(of('subagent-end'), [{ status: 'failed', text: 'Half' }])
  t.match(of('usage').filter(({ agentPath }) => agentPath !== undefined), [{ estimated: true }], 'its usage counts')
  t.ok(text.endsWith('Without it then.'))
  t.match(end, { type: 'run-completed' })
})

t.test('a member that ends without a word is asked for its report, and a digest stands in for one that fails', async (t) => {
  const silent = [toolCall('c1', 'look', { at: 'x' }), []]
  const asked = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [...silent, ['Here it is.']] })
  const first = await run(t, { ...asked, agent: root, crew: [researcher] })
  t.match(first.of('tool-output').at(-1)?.output, /^Here it is\.\n\nSources consulted:\n- look/)
  t.match(asked.models['test:researcher']!.requests.at(-1), { tools: [], messages: [{}, {}, {}, { role: 'user', content: /^Write your report now/ }] })

  const broken = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [...silent, [{ throw: new AppError('context_overflow', 'too long') }]] })
  const second = await run(t, { ...broken, agent: root, crew: [researcher] })
  t.match(second.of('tool-output').at(-1)?.output, /^No report was finished\. What follows is partial[^]*look:\nsaw x\n\nSources consulted:/)
})

t.test('depth is capped by the root and by the member, cycles are not offered', async (t) => {
  const chain = ['a', 'b', 'c'].map((key, index, all) => ({ key, model: `test:${key}`, agents: [...all.slice(index + 1, index + 2), 'root'], maxDepth: 3 }))
  const scripts = { root: [ask('d1', 'a'), ['Done.']], a: [ask('d2', 'b'), ['A.']], b: [ask('d3', 'c'), ['B.']], c: [['C.']] }
  const two = modelsOf(scripts)
  const refused = await run(t, { ...two, agent: { ...root, agents: ['a'] }, crew: chain })
  t.match(refused.of('tool-error'), [{ callId: 'd3', message: /nested 2 deep/ }])
  t.strictSame(two.models['test:a']!.requests[0]!.tools.map(({ name }) => name), ['b'], 'the root waits for it already')
  t.match(refused.log.find(({ message }) => /is left out/.test(message)), { level: 'debug', fields: { agent: 'a', member: 'root' } })

  const three = modelsOf(scripts)
  const allowed = await run(t, { ...three, agent: { ...root, agents: ['a'], maxDepth: 3 }, crew: chain })
  t.strictSame(allowed.of('tool-error'), [])
  t.strictSame(allowed.of('usage').map(({ agentPath = [] }) => agentPath.map(({ name }) => name).join('/')), ['', 'a', 'a/b', 'a/b/c', 'a/b', 'a', ''])
})

t.test('delegations are capped in all and at a time, without members waiting for each other', async (t) => {
  const busy = { now: 0, most: 0 }
  const work = defineTool({
    name: 'work',
    async execute () {
      busy.most = Math.max(busy.most, ++busy.now)
      await new Promise((resolve) => setTimeout(resolve, 10))
      busy.now--
    }
  })
  const calls = ['d1', 'd2', 'd3'].flatMap((id) => ask(id, 'a'))
  const { models, model } = modelsOf({ root: [calls, ['Done.']], a: [ask('e', 'b'), ask('e', 'b'), ask('e', 'b'), ['A.']], b: [toolCall('w', 'work'), toolCall('w', 'work'), ['B.']] })
  const { of, end } = await run(t, {
    model, models, agent: { ...root, agents: ['a'], memberConcurrency: 1, maxMemberCalls: 5 },
    crew: [{ key: 'a', model: 'test:a', agents: ['b'] }, { key: 'b', model: 'test:b', tools: [work] }]
  })
  t.equal(busy.most, 1)
  t.equal(of('tool-error').filter(({ message }) => message.startsWith('No more agents')).length, 1)
  t.match(end, { type: 'run-completed' })
})

t.test('a group is one tool with the members by name', async (t) => {
  const { models, model } = modelsOf({ root: [toolCall('d1', 'delegate', { agent: 'researcher', task: 'go' }), ['Ok.']], researcher: [['Report.']] })
  const { of } = await run(t, { model, models, agent: { ...root, delegation: 'group' }, crew: [researcher] })
  t.match(model.requests[0]!.tools, [{ name: 'delegate', parameters: { properties: { agent: { enum: ['researcher'] } }, required: ['agent', 'task'] } }])
  t.match(of('tool-input-complete'), [{ attribution: { handoff: 'Researcher' } }])
  t.match(of('tool-output'), [{ output: /^Report\./ }])
})

t.test('names of members that collide get a piece of the id, and own tools keep theirs', async (t) => {
  const { models, model } = modelsOf({ root: [['Hi.']] })
  const twins = ['x.twin', 'y.twin'].map((key) => ({ key, name: 'Same Name', model: 'test:root' }))
  await run(t, { model, models, agent: { ...root, tools: [defineTool({ name: 'look', execute: () => 1 })], agents: ['x.twin', 'y.twin', 'looker'] }, crew: [...twins, { key: 'looker', name: 'Look', model: 'test:root' }] })
  const names = model.requests[0]!.tools.map(({ name }) => name)
  t.match(names, ['look', /^same_name_[0-9a-f]{6}$/, /^same_name_[0-9a-f]{6}$/, /^look_[0-9a-f]{6}$/])
  t.equal(new Set(names).size, 4)
})

t.test('a stop reaches every depth', async (t) => {
  const hang = defineTool({ name: 'hang', execute: (_input, { signal }) => new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason) }) }) })
  const { models, model } = modelsOf({ root: [ask('d1', 'a')], a: [ask('d2', 'b')], b: [toolCall('h', 'hang')] })
  const abort = new AbortController()
  let stoppedAt = 0
  const { of, end } = await run(t, {
    model, models, agent: { ...root, agents: ['a'], subagentStream: 'full' }, signal: abort.signal,
    crew: [{ key: 'a', model: 'test:a', agents: ['b'] }, { key: 'b', model: 'test:b', tools: [hang] }],
    onEvent (event) {
      if (event.type !== 'tool-input-complete' || event.callId !== 'h') return
      setTimeout(() => {
        stoppedAt = performance.now()
        abort.abort(new Error('stop'))
      }, 5)
    }
  })
  t.ok(performance.now() - stoppedAt < 200)
  t.match(end, { type: 'run-failed' })
  t.strictSame(of('tool-error').map(({ callId }) => callId).sort(), ['d1', 'd2', 'h'])
})

t.test('attachments of the turn are seen by members only where their coordinator shares them', async (t) => {
  const file = { id: 'f1', name: 'notes.txt', mediaType: 'text/plain', size: 2, status: 'completed', text: 'hi' }
  const attachments = [{ file, text: '[notes.txt]', image: { mediaType: 'image/png', base64: 'AAAA' } }]
  for (const shareAttachments of [true, false]) {
    const { models, model } = modelsOf({ root: [ask('d1', 'researcher', 'read it'), ['Ok.']], researcher: [['Read.']] })
    await run(t, { model, models, agent: { ...root, shareAttachments }, crew: [researcher], input: { attachments } })
    const seen = shareAttachments ? { role: 'user', content: '[notes.txt]\n\nread it', images: [attachments[0]!.image] } : { role: 'user', content: 'read it' }
    t.strictSame(models['test:researcher']!.requests[0]!.messages[0], seen)
  }
})

t.test('a member has its tools for files where its coordinator shares those of the turn, and for no others', async (t) => {
  const file = (id: string) => ({ id, name: `${id}.txt`, mediaType: 'text/plain', size: 2, status: 'completed', text: 'hi' })
  const input = { files: [file('old'), file('new')], attachments: [{ file: file('new'), text: '[new.txt]' }] }
  const attachmentTools: AttachmentToolsHook = (files, { agentPath }, tools) => [...tools, defineTool({ name: `read_${files.map(({ id }) => id).join('_')}_${agentPath.length}`, execute: () => 1 })]
  for (const shareAttachments of [true, false]) {
    const { models, model } = modelsOf({ root: [ask('d1', 'researcher', 'read it'), ['Ok.']], researcher: [['Read.']] })
    await run(t, { model, models, agent: { ...root, shareAttachments, attachmentTools }, crew: [{ ...researcher, attachmentTools }], input })
    t.strictSame(model.requests[0]?.tools.map(({ name }) => name), ['researcher', 'read_old_new_0'])
    t.strictSame(models['test:researcher']!.requests[0]?.tools.map(({ name }) => name), shareAttachments ? ['look', 'read_new_1'] : ['look'])
  }
})

t.test('a member that a limit stops is truncated, and one that says all is completed', async (t) => {
  const calls = Array.from({ length: 6 }, (_, index) => toolCall(`c${index}`, 'look', { at: String(index) }))
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [...calls.slice(0, 5), ['What I have.']] })
  const { of } = await run(t, { model, models, agent: { ...root, subagentStream: 'full' }, crew: [researcher] })
  t.match(of('subagent-end'), [{ status: 'truncated', text: 'What I have.' }])
  t.strictSame(models['test:researcher']!.requests.at(-1)?.tools, [], 'the sixth call of the model has no tools')
})

t.test('a member makes six calls of tools at most where it says nothing else, and one batch is no way around', async (t) => {
  const batch = Array.from({ length: 8 }, (_, index) => toolCall(`c${index}`, 'look', { at: String(index) })).flat()
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Ok.']], researcher: [batch, ['What I have.']] })
  const { of } = await run(t, { model, models, agent: root, crew: [researcher] })
  t.equal(of('tool-output').filter(({ agentPath }) => agentPath !== undefined).length, 6)
  t.match(of('tool-error'), [{ callId: 'c6', message: /limit of tool calls/ }, { callId: 'c7' }])
})

t.test('the time of the run is the time of its members, whatever they say of theirs', async (t) => {
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher')], researcher: [['I begin', { hang: true }]] })
  const { of, end } = await run(t, { model, models, agent: { ...root, timeouts: { totalMs: 40 } }, crew: [{ ...researcher, timeouts: { totalMs: 60_000 } }] })
  t.match(end, { type: 'run-failed', code: 'provider_timeout' })
  t.match(of('tool-error'), [{ callId: 'd1' }])
  t.equal(models['test:researcher']!.closed(), 1)
})

t.test('the policy of the root decides on gated calls at every depth; one that throws denies', async (t) => {
  const done: unknown[] = []
  const wipe = defineTool({ name: 'wipe', input: z.object({ what: z.string() }), needsApproval: ({ what }) => { if (what === 'odd') throw new Error('cannot say'); return what !== 'free' }, execute: ({ what }) => { done.push(what); return 'wiped' } })
  const { models, model } = modelsOf({
    root: [ask('d1', 'researcher'), ['Ok.']],
    researcher: [['free', 'yes', 'no', 'broken', 'odd'].flatMap((what) => toolCall(what, 'wipe', { what })), ['Done.']]
  })
  const asked: unknown[] = []
  const { of, end } = await run(t, {
    model, models, crew: [{ ...researcher, tools: [wipe], approveToolCall: () => true }],
    agent: {
      ...root,
      approveToolCall ({ toolName, input }, { agentPath, principal }) {
        const { what } = input as { what: string }
        asked.push([toolName, what, agentPath.map(({ name }) => name), principal.userId])
        if (what === 'broken') throw new Error('secret cause')
        return what === 'yes' ? true : { approved: false, reason: 'Not that.' }
      }
    }
  })
  t.strictSame(done, ['free', 'yes'])
  t.strictSame(asked, ['yes', 'no', 'broken', 'odd'].map((what) => ['wipe', what, ['Researcher'], 'alice']))
  t.strictSame(of('tool-denied').map(({ callId, reason }) => [callId, reason]), [['no', 'Not that.'], ['broken', 'The approval policy failed.'], ['odd', 'Not that.']])
  t.match(end, { type: 'run-completed' })
})

t.test('a run that cannot wait refuses a gated call, and the call never runs', async (t) => {
  let calls = 0
  const gated = defineTool({ name: 'gated', needsApproval: true, execute: () => ++calls })
  const { models, model } = modelsOf({ root: [toolCall('c1', 'gated'), ['Without it.']] })
  const { of, text } = await run(t, { model, models, agent: { key: 'root', model: 'test:root', tools: [gated] }, input: { suspendsFor: 'nothing' } })
  t.match(of('tool-error'), [{ callId: 'c1', code: 'approval_unavailable' }])
  t.equal(text, 'Without it.')
  t.equal(calls, 0)
})

t.test('a tool whose output is the answer ends the run', async (t) => {
  async function * words () { yield 'Forty'; yield '-two.' }
  const answer = defineTool({ name: 'answer', handling: 'output', execute: () => words() })
  const { models, model } = modelsOf({ root: [toolCall('c1', 'answer'), ['never']] })
  const { text, of, end } = await run(t, { model, models, agent: { key: 'root', model: 'test:root', tools: [answer] } })
  t.equal(text, 'Forty-two.')
  t.match(of('tool-output'), [{ output: 'Forty-two.' }])
  t.equal(model.requests.length, 1)
  t.match(end, { type: 'run-completed' })
})

for (const delegation of ['tools', 'group'] as const) {
  t.test(`a member that the caller may not view is in none of the tools, lists and rosters, with delegation: ${delegation}`, async (t) => {
    const closed = { key: 'closed', name: 'Closed', description: 'Knows secrets.', model: 'test:researcher', permissions: [denyAll] }
    const { models, model } = modelsOf({ root: [delegation === 'tools' ? ask('d1', 'closed') : toolCall('d1', 'delegate', { agent: 'closed', task: 'tell' }), ['Ok.']], researcher: [['never']] })
    const { of, end } = await run(t, { model, models, agent: { ...root, delegation, agents: ['closed', 'researcher'] }, crew: [closed, researcher] })
    const [{ instructions, tools } = { instructions: '', tools: [] }] = model.requests
    t.match(instructions, /Available subagents:\n- Researcher: Looks things up\.$/)
    t.equal(tools.length, 1)
    t.match(JSON.stringify(tools), /researcher/)
    t.notMatch(JSON.stringify([instructions, tools]), /closed|secrets/i)
    t.match(of('tool-input-invalid'), [{ callId: 'd1' }], 'nor can it be asked')
    t.equal(models['test:researcher']!.requests.length, 0)
    t.match(end, { type: 'run-completed' })
  })
}

t.test('a crew of which the caller may view nobody is no crew', async (t) => {
  const { models, model } = modelsOf({ root: [['Alone.']], researcher: [['never']] })
  await run(t, { model, models, agent: root, crew: [researcher], permissions: { agent: [({ userId }, _operation, agent) => agent?.kind === 'agent' && agent.key === 'root' && userId === 'alice'] } })
  t.match(model.requests[0], { tools: [] })
  t.notMatch(model.requests[0]!.instructions, /subagents/)
})

t.test('a member that is closed after it was offered is not asked', async (t) => {
  let isOpen = true
  const { models, model } = modelsOf({ root: [ask('d1', 'researcher'), ['Without it.']], researcher: [['never']] })
  const { of, text } = await run(t, { model, models, agent: root, crew: [researcher], permissions: { agent: [() => isOpen] }, onEvent: ({ type }) => { if (type === 'tool-call-start') isOpen = false } })
  t.match(of('tool-error'), [{ callId: 'd1', message: 'The agent "Researcher" is not available. Go on without it.' }])
  t.equal(models['test:researcher']!.requests.length, 0)
  t.equal(text, 'Without it.')
})
