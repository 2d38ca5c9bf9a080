import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { defineAgent } from '../../../../src/agents/agent.ts'
import { defineSkillAgent } from '../../../../src/agents/skills/define-skill-agent.ts'
import { defineTool, type Tool } from '../../../../src/tools/tool.ts'
import { folderOf, skillText, use } from './folders.ts'

t.test('a skill is an agent: its name is the key, its body the instructions, its files can be read', async (t) => {
  const folder = await folderOf(t, { 'any/SKILL.md': skillText('pricing', 'Quote prices.\n\nRates: references/rates.md'), 'any/references/rates.md': 'one euro', 'other.md': 'secret' })
  const clock = defineTool({ name: 'clock', execute: () => 'noon' })
  const agent = defineSkillAgent(join(folder, 'any'), { model: 'offline', tools: [clock], maxSteps: 3 })
  t.match(agent, { kind: 'agent', key: 'pricing', description: 'All about pricing.', instructions: 'Quote prices.\n\nRates: references/rates.md', model: 'offline', maxSteps: 3, skills: [], tools: [{ name: 'clock' }, { name: 'read_resource' }] })
  t.ok(Object.isFrozen(agent))
  const reader = (agent.tools as readonly Tool[])[1]! // as just seen
  t.equal(await use(reader, { path: 'references/rates.md' }), 'one euro')
  await t.rejects(use(reader, { path: '../other.md' }), { code: 'invalid_request' })
})

t.test('what is given besides replaces what the skill says of itself, and a definition can be its base', async (t) => {
  const folder = pathToFileURL(await folderOf(t, { 'SKILL.md': skillText('pricing') }))
  t.match(defineSkillAgent(folder, { key: 'shop.prices', name: 'Prices', description: 'Ours' }), { key: 'shop.prices', name: 'Prices', description: 'Ours' })
  t.match(defineSkillAgent(folder.href), { key: 'pricing' })
  t.match(defineAgent({ ...defineSkillAgent(folder), key: 'night' }), { key: 'night', instructions: 'Do as pricing says.', tools: [{ name: 'read_resource' }] })
})

t.test('a skill that cannot be used is refused with its file and everything that is wrong with it', async (t) => {
  const folder = await folderOf(t, { 'SKILL.md': '---\nname: A\nauthor: x\n---\n' })
  const file = join(folder, 'SKILL.md')
  t.throws(() => defineSkillAgent(folder), { code: 'configuration_error', faults: [{ file, reason: /^name: / }, { file, reason: /^description: / }, { file, reason: 'unknown attribute "author".' }] })
  t.throws(() => defineSkillAgent(join(folder, 'gone')), { code: 'configuration_error', faults: [{ file: join(folder, 'gone/SKILL.md'), reason: 'does not exist' }] })
  t.throws(() => defineSkillAgent('file://elsewhere/x'), { code: 'configuration_error', faults: [{ reason: 'is not the path of a folder' }] })
  t.throws(() => defineSkillAgent('no/such/folder'), { code: 'configuration_error', faults: [{ file: join(process.cwd(), 'no/such/folder/SKILL.md') }] })
})
