import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkSkills, skillTools, withCatalogue } from '../../../../src/agents/skills/agent-skills.ts'
import { createResourceReader } from '../../../../src/agents/skills/skill-tools.ts'
import type { Tool } from '../../../../src/tools/tool.ts'
import { compileSchema } from '../../../../src/tools/schema.ts'
import { folderOf, skillText, use } from './folders.ts'

t.test('the catalogue tells of each skill on one line, behind the instructions', async (t) => {
  const { skills } = await shop(t)
  const text = withCatalogue('You sell.', [{ ...skills[0]!, description: 'Two\n  lines' }, ...skills.slice(1)]) // there are two
  t.match(text, /^You sell\.\n\nAvailable skills, .*\n- pricing: Two lines\n- returns: All about returns\.$/)
  t.match(withCatalogue('', skills), /^Available skills/)
  t.equal(withCatalogue('You sell.', []), 'You sell.')
})

t.test('read_skill gives the instructions as they are in the folder now, and names the files beside them', async (t) => {
  const { readSkill, folder } = await shop(t)
  t.equal(await use(readSkill, { name: 'pricing' }), 'Do as pricing says.\n\nFiles for read_resource: pricing/notes.md, pricing/references/rates.md')
  await writeFile(join(folder, 'returns/SKILL.md'), skillText('returns', 'Changed.'))
  t.match(await use(readSkill, { name: 'returns' }), /^Changed\.\n\n/)
  const check = compileSchema(readSkill!.input) // there is one
  t.match(check({ name: 'price' }), { ok: false, issues: [{ path: 'name', message: /"pricing"/ }] })
})

t.test('a skill that went away or became something else is said to be unreadable', async (t) => {
  const { readSkill, folder } = await shop(t)
  await writeFile(join(folder, 'pricing/SKILL.md'), 'no front matter')
  await t.rejects(use(readSkill, { name: 'pricing' }), { code: 'tool_failed', message: 'The skill "pricing" cannot be read any more.' })
  await rm(join(folder, 'pricing/SKILL.md'))
  await t.rejects(use(readSkill, { name: 'pricing' }), { code: 'tool_failed' })
  await symlink(join(folder, 'returns/SKILL.md'), join(folder, 'pricing/SKILL.md'))
  await t.rejects(use(readSkill, { name: 'pricing' }), { code: 'invalid_request' })
})

t.test('read_resource finds a file by the name of its skill, or as the skill itself calls it', async (t) => {
  const { readResource } = await shop(t)
  t.equal(await use(readResource, { path: 'pricing/references/rates.md' }), 'one euro')
  t.equal(await use(readResource, { path: 'references/rates.md' }), 'one euro')
  t.equal(await use(readResource, { path: 'returns/notes.md' }), 'return notes')
  await t.rejects(use(readResource, { path: 'notes.md' }), { code: 'invalid_request', message: /Several skills have a file "notes.md"/ })
  await t.rejects(use(readResource, { path: 'nothing.md' }), { code: 'not_found', message: 'There is no file "nothing.md". Files for read_resource: pricing/notes.md, pricing/references/rates.md, returns/notes.md' })
  for (const path of ['pricing', 'pricing/', 'gone/a.md']) await t.rejects(use(readResource, { path }), { code: 'not_found' }, path)
})

t.test('read_resource leaves none of the folders, not even for the one beside it', async (t) => {
  const { readResource } = await shop(t)
  for (const path of ['pricing/../returns/notes.md', 'pricing/../../secret.md', '../secret.md', '/etc/passwd', 'pricing//etc/../../secret.md', 'pricing/.hidden']) {
    await t.rejects(use(readResource, { path }), { code: 'invalid_request' }, path)
  }
  await t.rejects(use(readResource, { path: 'pricing/%2e%2e/returns/notes.md' }), { code: 'not_found' })
  t.match(compileSchema(readResource!.input)({ path: 'a/'.repeat(600) }), { ok: false }) // there is one
})

t.test("an agent's own folder comes first", async (t) => {
  const { skills, folder } = await shop(t)
  const reader = createResourceReader({ own: join(folder, 'returns'), skills: skills.slice(0, 1) })
  t.equal(await use(reader, { path: 'notes.md' }), 'return notes')
  t.equal(await use(reader, { path: 'pricing/notes.md' }), 'price notes')
  await t.rejects(use(reader, { path: 'x.md' }), { code: 'not_found', message: /Files for read_resource: notes.md, pricing\/notes.md, / })
})

t.test('what is wrong with the listed skills is told for each of them', async (t) => {
  const folder = await folderOf(t, { 'one/SKILL.md': skillText('same'), 'two/SKILL.md': skillText('same'), 'three/SKILL.md': skillText('Bad'), 'four/skill.md': '', 'five/SKILL.md': Uint8Array.of(0xFF, 0xFE), 'six/SKILL.md/x': '', 'seven/x': '' })
  await symlink(join(folder, 'one/SKILL.md'), join(folder, 'seven/SKILL.md'))
  const { skills, problems } = checkSkills(['one', 'two', 'three', 'four', './five', 'six', 'seven', 'gone', new URL('https://127.0.0.1/x')], [folder])
  t.strictSame(skills.map(({ name }) => name), ['same'])
  t.match(problems, [
    'skills[1]: "two": a second skill named "same"',
    /^skills\[2\]: "three": SKILL\.md: name: expected small letters/,
    'skills[3]: "four": SKILL.md: does not exist',
    'skills[4]: "./five": SKILL.md: is not UTF-8 text',
    'skills[5]: "six": SKILL.md: is not a file',
    'skills[6]: "seven": SKILL.md: is a link that leads out of its folder',
    'skills[7]: "gone": SKILL.md: does not exist',
    'skills[8]: "https://127.0.0.1/x" is not the path of a folder'
  ])
})

t.test('no skills, no tools', async (t) => {
  t.strictSame(skillTools([], undefined), [])
})

async function shop (t: Test) {
  const folder = await folderOf(t, {
    'pricing/SKILL.md': skillText('pricing'), 'pricing/references/rates.md': 'one euro', 'pricing/notes.md': 'price notes', 'pricing/.hidden': 'x',
    'returns/SKILL.md': skillText('returns'), 'returns/notes.md': 'return notes', 'secret.md': 'secret'
  })
  const { skills, problems } = checkSkills(['pricing', 'returns'], [folder])
  t.strictSame(problems, [])
  const [readSkill, readResource] = skillTools(skills, undefined) as [Tool?, Tool?] // of two
  return { folder, skills, readSkill, readResource }
}
