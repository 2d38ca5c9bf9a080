import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { loadRegistry } from '../../src/agents/load-registry.ts'
import { openDatabase } from '../../src/database/database.ts'

t.test('every command of the README belongs to a step of the checks', async (t) => {
  const readme = await readFile('README.md', 'utf8')
  const known = ['start', 'chat', 'history', 'run', 'start-postgresql', 'step']
  const blocks = readme.match(/^```sh$/gm) ?? []
  const marked = [...readme.matchAll(/^<!-- ci: ([\w-]+) -->\n```sh$/gm)]
  t.equal(marked.length, blocks.length, 'every block of commands is marked')
  for (const [, name = ''] of marked) t.ok(known.includes(name), name)
})

t.test('the steps named by the README are scripts of the package', async (t) => {
  const readme = await readFile('README.md', 'utf8')
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> }
  const steps = /<!-- ci: step -->\n```sh\n(.*?)```/s.exec(readme)?.[1]?.trim().split('\n') ?? []
  t.ok(steps.length > 0)
  for (const step of steps) t.ok((step.replace(/^npm (run )?/, '')) in scripts, step)
})

t.test('the example agent of the README can be served', async (t) => {
  const readme = await readFile('README.md', 'utf8')
  const source = /<!-- file: agents\/pirate.ts -->\n```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  const folder = t.testdir({ 'parley.config.json': JSON.stringify({ agents: ['agents/*.ts'] }), agents: { 'pirate.ts': source } })
  const registry = await loadRegistry({ config: loadConfig({}), cwd: folder, env: {} })
  t.match(registry.find('pirate'), { key: 'pirate', tools: [{ name: 'tide' }] })
})

t.test('the README lists every request the service answers, and no other', async (t) => {
  const readme = await readFile('README.md', 'utf8')
  const documented = [...readme.matchAll(/^\| `([A-Z]+ \/\S+)` \|/gm)].map(([, request]) => request)
  t.strictSame(documented.sort(), (await routesOf(t)).sort())
})

t.test('folders and files that the documents show or link to exist', async (t) => {
  for (const page of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/architecture.md', 'docs/errors.md']) {
    const text = await readFile(page, 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) t.ok(existsSync(join(dirname(page), target)), `${page} links to ${target}`)
  }
  const readme = await readFile('README.md', 'utf8')
  const tree = /## Where things are\n\n```\n(.*?)```/s.exec(readme)?.[1] ?? ''
  for (const [, path = ''] of tree.matchAll(/^(\S+)/gm)) t.ok(existsSync(path), path)
})

/** Method and path of each route, read from the application's own tree of them. */
async function routesOf (t: Test): Promise<string[]> {
  const config = loadConfig({ DATA_DIR: t.testdir() })
  const agents = await loadRegistry({ config, cwd: process.cwd(), env: {} })
  const app = await buildApp({ config, agents, models: agents.models, database: await openDatabase({ url: config.databaseUrl }) })
  t.teardown(() => app.close())
  await app.ready()
  const path: string[] = []
  return app.printRoutes({ commonPrefix: false }).split('\n').flatMap((line) => {
    const entry = /^(?<indent>[│ ]*)[├└]── (?<part>\S*)(?: \((?<methods>[A-Z, ]+)\))?/.exec(line)?.groups
    if (entry === undefined) return []
    path.splice((entry['indent'] ?? '').length / 4, Infinity, entry['part'] ?? '')
    const methods = entry['methods']?.split(', ') ?? []
    return methods.filter((method) => method !== 'HEAD' && method !== 'OPTIONS').map((method) => `${method} ${path.join('')}`).filter((request) => !request.includes(' /docs/'))
  })
}
