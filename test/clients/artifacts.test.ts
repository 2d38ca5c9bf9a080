import t from 'tap'
import { z } from 'zod'
import { defineArtifact } from '../../src/artifacts/artifact.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { getJson, startApp } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { assertAgreement, openChat } from './live-chat.ts'

const card = defineArtifact({ name: 'card', title: 'Card', data: z.object({ text: z.string() }) })
const look = defineTool({ name: 'look', execute: () => 'the sea' })

for (const client of clientNames) {
  t.test(`${client}: artifacts, submitted, mended, of tools and of members, are the same live, after a reload and in the list`, async (t) => {
    const toolArtifacts = { look: { artifact: card, build: (_args: unknown, result: unknown) => ({ text: String(result) }) } }
    const root = scriptedModel([
      ['Let me see. ', ...toolCall('c1', 'look'), ...toolCall('c2', 'artifact_card', { text: 7 }), ...toolCall('c3', 'helper', { task: 'Look' })],
      toolCall('c4', 'artifact_card', { text: 'seven' }), ['Done.'], ['You are welcome.']
    ])
    const helper = scriptedModel([[...toolCall('m1', 'artifact_card', { text: 'mine' }), ...toolCall('m2', 'look')], ['Looked.']], { id: 'test:helper' })
    const server = await startApp(t, {
      models: { get: (id) => id === 'test:helper' ? helper : root, defaultModel: root.id },
      agents: [
        { key: 'tester', tools: [look], artifacts: [card], toolArtifacts, agents: ['helper'] },
        { key: 'helper', model: 'test:helper', hidden: true, tools: [look], artifacts: [card], toolArtifacts }
      ]
    })
    const live = await openChat(client, server, { id: 'artifact-thread' })
    await live.chat.sendMessage({ text: 'Look' })
    t.equal(live.chat.error, undefined)
    await assertAgreement(t, server, live)

    const shown = live.chat.messages[1]?.parts.filter(({ type, state }) => type === 'tool-artifact_card' && state === 'output-available') ?? []
    t.strictSame(shown.map(({ input }) => (input as { text: string }).text).sort(), ['mine', 'seven', 'the sea', 'the sea'])
    const { items } = await getJson(`${server.url}/v1/threads/artifact-thread/artifacts`)
    t.strictSame(byId(items.map(({ id, callId, data }: Record<string, unknown>) => ({ id, callId, data }))),
      byId(shown.map(({ output, toolCallId, input }) => ({ id: (output as { artifactId: string }).artifactId, callId: toolCallId, data: input }))))

    await live.chat.sendMessage({ text: 'Thanks' })
    t.equal(live.chat.error, undefined)
    await assertAgreement(t, server, live)
  })
}

function byId<T extends { readonly id: unknown }> (items: readonly T[]): T[] {
  return items.toSorted((a, b) => String(a.id) < String(b.id) ? -1 : 1)
}
