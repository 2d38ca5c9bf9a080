import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import t from 'tap'

const notOurs = ['node_modules', 'dist', 'data', 'coverage']

t.test('docs/architecture.md lists every folder there is, and no other', async (t) => {
  const expected = [...foldersIn('.').filter((name) => !name.startsWith('.') && !notOurs.includes(name)), ...foldersIn('src').map((name) => `src/${name}`)]
  t.strictSame((await listedFolders()).sort(), expected.sort())
})

t.test('docs/architecture.md speaks of no file or folder that is missing', async (t) => {
  const page = await readFile('docs/architecture.md', 'utf8')
  for (const [, path = ''] of page.matchAll(/`((?:src|test|plugins|routes)\/[\w./-]*)`/g)) t.ok(existsSync(path), path)
})

t.test('docs/architecture.md says what each file directly in src is for', async (t) => {
  const page = await readFile('docs/architecture.md', 'utf8')
  const files = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { name } of files) t.match(page, `\`${name}\``)
})

async function listedFolders (): Promise<string[]> {
  const page = await readFile('docs/architecture.md', 'utf8')
  const tree = /## Folders\n\n```\n(.*?)```/s.exec(page)?.[1] ?? ''
  return [...tree.matchAll(/^( {2})?([\w-]+)\//gm)].map(([, nested, name]) => nested === undefined ? `${name}` : `src/${name}`)
}

function foldersIn (path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory() && hasFiles(`${path}/${entry.name}`)).map(({ name }) => name)
}

/** Empty folders are not in the repository. */
function hasFiles (path: string): boolean {
  return existsSync(path) && readdirSync(path, { withFileTypes: true, recursive: true }).some((entry) => entry.isFile())
}
