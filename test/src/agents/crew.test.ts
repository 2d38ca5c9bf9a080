import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { defineAgent } from '../../../src/agents/agent.ts'
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

t.test('metadata of a member is an object of JSON values, kept as it was said', async (t) => {
  const given = { shop: { name: 'north', tags: ['a', null, 1.5, true] } }
  const { agents } = defineAgent({ key: 'desk', agents: [{ agent: 'looker', metadata: given }] })
  given.shop.tags.push('later')
  t.match(agents, [{ metadata: { shop: { name: 'north', tags: ['a', null, 1.5, true] } } }])
  t.strictSame(defineAgent({ key: 'base', agents }).agents, agents, 'a definition may be the base of another')
  const own = Object.getOwnPropertyDescriptor((agents[0] as { metadata: object }).metadata, 'shop')
  t.ok(Object.isFrozen(own?.value))

  const loop: Record<string, unknown> = {}
  loop['self'] = { loop }
  for (const metadata of [[], 'x', null, new Date(), new Map(), { at: new Date() }, { n: NaN }, { f: () => 1 }, { u: undefined }, { big: 1n }, loop]) {
    t.throws(() => defineAgent({ key: 'desk', agents: [{ agent: 'looker', metadata: metadata as never }] }), { name: 'ZodError' }) // what code without types may say
  }
  const twice = { a: 1 }
  t.doesNotThrow(() => defineAgent({ key: 'desk', agents: [{ agent: 'looker', metadata: { one: twice, two: twice } }] }))
})

t.test('what is wrong with metadata is told with its place', async (t) => {
  t.strictSame(await faultsOf(t, '{ key: desk, agents: [looker, { agent: looker, metadata: [1] }] }, { key: looker }'), ['parley.config.yaml: agent "desk": agents[1].metadata: expected an object of JSON values'])
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
