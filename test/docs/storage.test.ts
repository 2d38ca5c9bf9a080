import { readFile } from 'node:fs/promises'
import t from 'tap'
import { loadRegistry } from '../../src/agents/load-registry.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { checkedStorage } from '../../src/storage/checked-storage.ts'
import { builtInStorages } from '../../src/storage/define-storage.ts'

const page = await readFile('docs/storage.md', 'utf8')
const firstCells = (heading: string) => Array.from(sectionOf(heading).matchAll(/^\| (`[^|]*`) \|/gm), ([, cell = '']) => Array.from(cell.matchAll(/`([\w.]+)[^`]*`/g), ([, name = '']) => name)).flat()

t.test('docs/storage.md names every storage that needs no definition', async (t) => {
  t.strictSame(firstCells('# Storage').filter((name) => name !== 'storage'), builtInStorages)
})

t.test('the agent that docs/storage.md shows has a storage of its own, which opens', async (t) => {
  const shown = /```ts\n(.*?)```/s.exec(page)?.[1] ?? ''
  const cwd = t.testdir({ 'parley.config.ts': `${shown}\nexport default { agents: [clerk] }\n` })
  const [agent] = (await loadRegistry({ config: loadConfig({}), cwd, env: {} })).all()
  const storage = agent?.storage
  if (typeof storage !== 'object') return t.fail('it has none')
  t.equal(storage.name, 'archive')
  const asked: string[] = []
  const opened = await storage.open({
    openDatabase: async (url) => {
      asked.push(url)
      return await openDatabase({ url: 'file::memory:' })
    }
  })
  t.teardown(() => opened.close())
  t.strictSame(asked, ['file:./archive.db'])
  t.strictSame(firstCells('## A storage of your own').toSorted(), Object.keys(checkedStorage('archive', opened)).toSorted(), 'with the members of the table')
})

/** What is below a heading, up to the next one. */
function sectionOf (heading: string): string {
  const [, text = ''] = page.split(`${heading}\n`)
  return text.split(/^#+ /m)[0] ?? ''
}
