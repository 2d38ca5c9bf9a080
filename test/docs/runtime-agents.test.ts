import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadRegistry } from '../../src/agents/load-registry.ts'
import { runtimePatchSchema, runtimeSettingsSchema } from '../../src/agents/runtime-settings.ts'
import { loadConfig } from '../../src/config.ts'

const page = await readFile('docs/runtime-agents.md', 'utf8')

t.test('docs/runtime-agents.md names every field, and what it is where nothing is said', async (t) => {
  const rows = Array.from(page.matchAll(/^\| `(\w+)` \| (?:`([^`]+)`|required) \|/gm), ([, name = '', value]) => [name, value])
  const defaults = runtimeSettingsSchema.parse({ base: 'b', name: 'n' })
  const expected = Object.entries(defaults).map(([name, value]) => [name, name === 'base' || name === 'name' ? undefined : JSON.stringify(value)])
  t.strictSame(rows, expected)
  t.strictSame(Object.keys(runtimePatchSchema.shape).sort(), Object.keys(runtimeSettingsSchema.shape).sort(), 'all of them can be changed')
})

t.test('the configuration that docs/runtime-agents.md shows offers what it says', async (t) => {
  const kit = await load(t, 'parley.config.ts', /```ts\n(.*?)```/s.exec(page)?.[1] ?? '')
  const body = /-d '(\{"base": "assistant".*?\})'/.exec(page)?.[1] ?? ''
  t.match(kit?.make(runtimeSettingsSchema.parse(JSON.parse(body)), { id: 'made-1', tenantId: 'north' }), { agent: { name: 'Poet', instructions: 'Answer in verse.', tools: [{ name: 'clock' }] } })
  t.strictSame(kit?.bases.map(({ key }) => key), ['house-style', 'assistant'])
})

t.test('so does the one without code', async (t) => {
  const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? ''
  const kit = await load(t, 'parley.config.yaml', `agents: ['agents/*.ts']\n${yaml.replace('find_book', '')}`)
  t.strictSame(kit?.bases.map(({ key }) => key), ['assistant'])
})

async function load (t: Test, name: string, text: string) {
  const folder = t.testdir()
  await mkdir(join(folder, 'agents/tools'), { recursive: true })
  await writeFile(join(folder, 'agents/tools/clock.ts'), "import { defineTool } from 'parley'\nexport const clock = defineTool({ name: 'clock' })\n")
  await writeFile(join(folder, 'agents/assistant.ts'), "import { defineAgent } from 'parley'\nexport default defineAgent({ key: 'assistant' })\n")
  await writeFile(join(folder, name), text)
  const env = { OPENAI_API_KEY: 'key' }
  return (await loadRegistry({ config: loadConfig(env), cwd: folder, env })).agentKit
}
