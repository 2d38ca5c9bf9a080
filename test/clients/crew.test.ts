import t from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { chunksOf, startApp } from '../helpers/app.ts'
import { startScriptedUpstream } from '../helpers/scripted-upstream.ts'
import { assertAgreement, openChat } from './live-chat.ts'

const ask = (id: string, name: string) => ({ id, name, input: { task: `task ${id}` } })
const look = (id: string) => ({ id, name: 'look', input: { at: id } })
const lookTool = defineTool({ name: 'look', input: z.object({ at: z.string() }), execute: ({ at }) => `saw ${at}` })

/** Every agent looks once and asks the next one, which does the same; two calls of `c` at once. */
const scripts = {
  root: [{ text: 'Let me see. ', calls: [look('l0'), ask('d1', 'a')] }, { text: 'All done.' }],
  a: [{ calls: [look('l1'), ask('d2', 'b')] }, { text: 'A reports.' }],
  b: [{ text: 'B thinks.', calls: [ask('d3', 'c'), ask('d4', 'c')] }, { text: 'B reports.' }],
  c: [{ calls: [look('l3')] }, { text: 'C reports.' }]
}

for (const client of clientNames) {
  for (const subagentStream of ['tools', 'full'] as const) {
    t.test(`${client}: a crew three deep is attributed once at every depth, and a reload shows what was live (${subagentStream})`, async (t) => {
      const { models } = await startScriptedUpstream(t, scripts)
      const member = (key: string, agents: string[] = []) => ({ key, model: `script:${key}`, maxDepth: 3, hidden: true, tools: [lookTool], agents })
      const server = await startApp(t, { models, agents: [{ key: 'root', agents: ['a'], maxDepth: 3, tools: [lookTool], subagentStream }, member('a', ['b']), member('b', ['c']), member('c')] })
      const live = await openChat(client, server, { id: 'deep-crew' })
      await live.chat.sendMessage({ text: 'Go' })
      t.equal(live.chat.error, undefined)
      const parts = live.chat.messages[1]?.parts ?? []
      const attribution = (callId: string) => (parts.find(({ toolCallId }) => toolCallId === callId)?.['callProviderMetadata'] as { parley?: Record<string, unknown> } | undefined)?.parley
      const pathOf = (callId: string) => (attribution(callId)?.['agentPath'] as Array<{ name: string, toolCallId: string }> | undefined)?.map(({ name, toolCallId }) => `${name}@${toolCallId}`)
      t.equal(attribution('l0'), undefined, "nothing on the coordinator's own")
      t.strictSame(attribution('d1'), { handoff: 'a' })
      t.match(attribution('l1'), { agent: 'a', parentToolCallId: 'd1' })
      t.strictSame(pathOf('l1'), ['a@d1'])
      t.match(attribution('d3'), { agent: 'b', handoff: 'c', parentToolCallId: 'd2' })
      // The second of the two calls by the same id gets an id of its own.
      const deepest = parts.filter((part) => part.type === 'tool-look' && (part['input'] as { at: string }).at === 'l3')
      t.strictSame(deepest.map(({ toolCallId }) => pathOf(toolCallId as string)).sort(), ['d3', 'd4'].map((call) => ['a@d1', 'b@d2', `c@${call}`]), 'two calls of one member are two frames')
      for (const { toolCallId } of deepest) t.strictSame(Object.keys(attribution(toolCallId as string) ?? {}).sort(), ['agent', 'agentPath', 'parentToolCallId'], 'one wrapping, however deep')
      t.ok(parts.filter(({ type }) => type.startsWith('tool-')).every(({ state }) => state === 'output-available'))
      const frames = parts.filter(({ type }) => type === 'data-subagent').map((part) => part['data'] as { frameId: string, status: string, text: string })
      t.strictSame(frames.map(({ frameId, status, text }) => [frameId, status, text]).sort(), subagentStream === 'tools'
        ? []
        : [['d1', 'completed', 'A reports.'], ['d1/d2', 'completed', 'B thinks.\n\nB reports.'], ['d1/d2/d3', 'completed', 'C reports.'], ['d1/d2/d4', 'completed', 'C reports.']])
      const [stream = ''] = await live.streams()
      t.notMatch(JSON.stringify(chunksOf(stream)), /"agentPath":\[[^\]]*"agentPath"/, 'no path in a path')
      await assertAgreement(t, server, live)
      await live.chat.sendMessage({ text: 'And again' })
      await assertAgreement(t, server, live)
    })
  }
}
