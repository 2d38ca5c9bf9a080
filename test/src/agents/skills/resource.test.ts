import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { findResource, listResources, readResource, resourceSegments } from '../../../../src/agents/skills/resource.ts'
import { maxSkillBytes } from '../../../../src/agents/skills/skill-text.ts'
import { folderOf } from './folders.ts'

t.test('a file of the folder is read, also one with an odd name', async (t) => {
  const folder = await folderOf(t, { 'a.md': '\uFEFFone', 'deep/er/b.txt': 'two', '50%.md': 'three', 'ü b.md': 'four', 'a..b.md': 'five', empty: '' })
  const expected = { 'a.md': 'one', './a.md': 'one', 'deep/er/b.txt': 'two', 'deep//er/./b.txt': 'two', '50%.md': 'three', 'ü b.md': 'four', 'a..b.md': 'five', empty: '' }
  for (const [path, text] of Object.entries(expected)) t.equal(await read(folder, path), text, path)
})

const leaving = [
  '', '.', '/', '/etc/passwd', '//etc/passwd', '..', '../outside.md', 'deep/../../outside.md', 'deep/../a.md', './../outside.md', 'a.md/../../outside.md',
  'a.md\0', '\0', 'C:/outside.md', 'c:outside.md', '..\\outside.md', 'deep\\..\\..\\outside.md', '\\\\host\\share', '.env', 'deep/.git/config', '...', '..%2foutside.md', '..%00/outside.md'
]

for (const path of leaving) {
  t.test(`${JSON.stringify(path)} is refused before anything is read`, async (t) => {
    t.throws(() => resourceSegments(path), { code: 'invalid_request', message: /is not the path of a file in the folder/ })
  })
}

t.test('what is encoded is a name like any other, and there is no such file', async (t) => {
  const folder = await folderOf(t, { 'in/a.md': 'a', 'outside.md': 'secret' })
  for (const path of ['%2e%2e/outside.md', '%2e%2e%2foutside.md', '%2foutside.md', '\u2024\u2024/outside.md', '\uFF0E\uFF0E/outside.md', 'file:///etc/passwd']) {
    t.equal(await outcome(join(folder, 'in'), path), 'nothing', path)
  }
})

t.test('a link is followed inside the folder only', async (t) => {
  const folder = await folderOf(t, { 'in/a.md': 'a', 'in/deep/b.md': 'b', 'outside.md': 'secret', 'in-other/c.md': 'secret' })
  const inside = join(folder, 'in')
  await symlink('a.md', join(inside, 'link.md'))
  await symlink('../outside.md', join(inside, 'out.md'))
  await symlink(folder, join(inside, 'up'))
  await symlink('../in-other', join(inside, 'beside'))
  await symlink('loop', join(inside, 'loop'))
  await symlink('gone.md', join(inside, 'dangling'))
  await symlink(inside, join(folder, 'mounted'))
  t.equal(await read(inside, 'link.md'), 'a')
  t.equal(await read(join(folder, 'mounted'), 'a.md'), 'a', 'the folder itself may be one')
  for (const path of ['out.md', 'up/outside.md', 'up', 'beside/c.md']) await t.rejects(read(inside, path), { code: 'invalid_request' }, path)
  for (const path of ['loop', 'dangling', 'up/in/nothing.md', 'a.md/b', 'gone.md', 'x'.repeat(300)]) t.equal(await outcome(inside, path), 'nothing', path)
})

t.test('what is no text of a decent size is refused in words', async (t) => {
  const folder = await folderOf(t, {
    'image.png': Uint8Array.of(0x89, 0x50, 0x4E, 0x47, 0, 1),
    'latin.txt': Uint8Array.of(0x66, 0xFC, 0x72),
    'large.txt': 'x'.repeat(maxSkillBytes + 1),
    'full.txt': 'x'.repeat(maxSkillBytes),
    'sub/a.md': 'a'
  })
  await promisify(execFile)('mkfifo', [join(folder, 'pipe')])
  await t.rejects(read(folder, 'image.png'), { code: 'file_unsupported', message: '"image.png" is not text, so it cannot be read.' })
  await t.rejects(read(folder, 'latin.txt'), { code: 'file_unsupported' })
  await t.rejects(read(folder, 'large.txt'), { code: 'payload_too_large', message: /"large.txt" has 262145 bytes; at most 262144 can be read/ })
  await t.rejects(read(folder, 'sub'), { code: 'invalid_request', message: '"sub" is not a file.' })
  await t.rejects(read(folder, 'pipe'), { code: 'invalid_request', message: '"pipe" is not a file.' })
  t.equal((await read(folder, 'full.txt')).length, maxSkillBytes)
})

t.test('the files that can be read are listed in order, without what is hidden, and not without end', async (t) => {
  const folder = await folderOf(t, { 'SKILL.md': '', 'b.md': '', 'a/SKILL.md': '', 'a/c.md': '', '.env': '', '.git/config': '', 'd/e/f/g/h.md': '' })
  await symlink('b.md', join(folder, 'link.md'))
  t.strictSame(await listResources(folder), ['a/SKILL.md', 'a/c.md', 'b.md'])
  await mkdir(join(folder, 'many'))
  for (let index = 0; index < 150; index++) await writeFile(join(folder, 'many', `${index}.md`), '')
  t.equal((await listResources(folder)).length, 100)
  t.strictSame(await listResources(join(folder, 'gone')), [])
})

async function outcome (folder: string, path: string): Promise<string> {
  return await findResource(folder, resourceSegments(path)) === undefined ? 'nothing' : 'a file'
}

async function read (folder: string, path: string): Promise<string> {
  const found = await findResource(folder, resourceSegments(path))
  if (found === undefined) throw new Error(`no ${path}`)
  return await readResource(found, path)
}
