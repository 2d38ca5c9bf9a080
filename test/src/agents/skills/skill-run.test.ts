import { join } from 'node:path'
import t from 'tap'
import { loadRegistry } from '../../../../src/agents/load-registry.ts'
import { loadConfig } from '../../../../src/config.ts'
import type { RunEventBody } from '../../../../src/events/run-event.ts'
import { runAgent } from '../../../../src/runtime/run-agent.ts'
import { alice } from '../../../contracts/turns.ts'
import { recordingLog } from '../../../helpers/memory-turns.ts'
import { scriptedModel, toolCall } from '../../../helpers/scripted-model.ts'
import { folderOf, skillText } from './folders.ts'

t.test('a model is told of the skills, reads one, then a file of it', async (t) => {
  const cwd = await folderOf(t, {
    'parley.config.yaml': 'agents: [{ key: seller, instructions: You sell., skills: [skills/pricing] }]\n',
    'skills/pricing/SKILL.md': skillText('pricing', 'Rates: references/rates.md'),
    'skills/pricing/references/rates.md': 'one euro'
  })
  const { find, permissions } = await loadRegistry({ config: loadConfig({ PARLEY_CONFIG: join(cwd, 'parley.config.yaml') }), cwd, env: {} })
  const agent = find('seller')
  if (agent === undefined) return t.fail('the agent is registered')
  const model = scriptedModel([toolCall('c1', 'read_skill', { name: 'pricing' }), toolCall('c2', 'read_resource', { path: 'references/rates.md' }), toolCall('c3', 'read_resource', { path: '../../parley.config.yaml' }), ['One euro.']])
  const events: RunEventBody[] = []
  const input = { runId: 'run-1', messageId: 'answer-1', threadId: undefined, agent, principal: alice, metadata: {}, history: [{ role: 'user', content: 'How much?' }], mode: 'chat', useTools: true, suspendsFor: 'everything' } as const
  for await (const batch of runAgent(input, { models: { get: () => model, defaultModel: model.id }, agents: { find }, permissions, log: recordingLog(), toolOutputLimit: 0, subagentDigestLimit: 0, approvalTtlMs: 0 }, new AbortController().signal)) events.push(...batch)
  t.match(model.requests[0], { instructions: /^You sell\.\n\nAvailable skills, .*\n- pricing: All about pricing\.$/, tools: [{ name: 'read_skill' }, { name: 'read_resource' }] })
  t.match(events.filter(({ type }) => type === 'tool-output' || type === 'tool-error'), [
    { callId: 'c1', output: 'Rates: references/rates.md\n\nFiles for read_resource: pricing/references/rates.md' },
    { callId: 'c2', output: 'one euro' },
    { callId: 'c3', code: 'invalid_request', message: /is not the path of a file in the folder/ }
  ])
  t.equal(events.at(-1)?.type, 'run-completed')
})
