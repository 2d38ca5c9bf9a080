import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigurationFaults, faultLine } from '../../../src/agents/faults.ts'
import { loadRegistry } from '../../../src/agents/load-registry.ts'
import { loadConfig } from '../../../src/config.ts'

t.test('a crew names its members by key, alias or id, or as they are, with a mode or without', async (t) => {
  const { find } = await load(t, 'parley.config.ts', `
    import { defineAgent, defineConfig } from 'parley'
    const editor = defineAgent({ key: 'editor' })
    export default defineConfig({ agents: [defineAgent({ key: 'desk', agents: ['looker.old', editor, { agent: editor, mode: 'handover' }, { agent: 'looker' }] }), editor, { key: 'looker', aliases: ['looker.old'] }] })`)
  t.strictSame(find('desk')?.crew, [{ key: 'looker.old', mode: 'request' }, { key: 'editor', mode: 'request' }, { key: 'editor', mode: 'handover' }, { key: 'looker', mode: 'request' }])
})

t.test('a member that is not there, and a name twice in a group, stop the start with file and entry', async (t) => {
  t.strictSame(await faultsOf(t, `
    { key: desk, agents: [loker, looker] }, { key: looker, name: Same },
    { key: group, delegation: group, agents: [looker, twin] }, { key: tools, agents: [looker, twin] }, { key: twin, name: Same }`), [
    'parley.config.yaml: agent "desk": agents[0]: no agent "loker" in this configuration. Did you mean "looker"?',
    'parley.config.yaml: agent "group": agents[1]: a second member named "Same"; in a group names have to differ'
  ])
})

async function load (t: Test, name: string, text: string) {
  const cwd = t.testdir({})
  await writeFile(join(cwd, name), text)
  return await loadRegistry({ config: loadConfig({}), cwd, env: {} })
}

async function faultsOf (t: Test, agents: string): Promise<readonly string[]> {
  try {
    await load(t, 'parley.config.yaml', `agents: [${agents}]\n`)
  } catch (error) {
    if (error instanceof ConfigurationFaults) return error.faults.map(faultLine)
    throw error
  }
  return []
}
