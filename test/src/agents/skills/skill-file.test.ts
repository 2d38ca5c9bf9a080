import t from 'tap'
import { readSkillFile } from '../../../../src/agents/skills/skill-file.ts'

t.test('a skill has a name, a description, free metadata and its instructions', async (t) => {
  t.strictSame(readSkillFile('---\nname: price-list-2\ndescription: |\n  Quotes prices.\n  In euros.\nmetadata:\n  version: "1"\n---\n\n# Prices\n\n---\nLook them up.\n\n'), {
    ok: true,
    head: { name: 'price-list-2', description: 'Quotes prices.\nIn euros.', metadata: { version: '1' } },
    body: '# Prices\n\n---\nLook them up.'
  })
})

t.test('lines may end as on Windows, and instructions may be missing', async (t) => {
  t.strictSame(readSkillFile('---\r\nname: a\r\ndescription: b\r\n---\r\none\r\ntwo\r\n'), { ok: true, head: { name: 'a', description: 'b', metadata: {} }, body: 'one\ntwo' })
  t.match(readSkillFile('---\nname: a\ndescription: b\n---'), { ok: true, body: '' })
})

const wrong = [
  { name: 'no front matter', text: '# Prices\n', problems: ['expected front matter between two lines of "---" at the top'] },
  { name: 'front matter without an end', text: '---\nname: a\n', problems: ['expected front matter between two lines of "---" at the top'] },
  { name: 'front matter that comes late', text: '\n---\nname: a\ndescription: b\n---\n', problems: ['expected front matter between two lines of "---" at the top'] },
  { name: 'empty front matter', text: '---\n---\nbody', problems: ['name: expected string, got nothing', 'description: expected string, got nothing'] },
  { name: 'front matter that is no YAML', text: '---\nname: a\ndescription: [b\n---\n', problems: [/^line \d+, column \d+: /] },
  { name: 'front matter that is a list', text: '---\n- name\n---\n', problems: [/expected object/] },
  { name: 'unknown keys', text: '---\nname: a\ndescripton: b\nlicense: MIT\n---\n', problems: ['description: expected string, got nothing', 'unknown attribute "descripton". Did you mean "description"?', 'unknown attribute "license".'] },
  { name: 'a blank description', text: '---\nname: a\ndescription: "  "\n---\n', problems: ['description: expected a line on what the skill is for'] },
  { name: 'metadata that is text', text: '---\nname: a\ndescription: b\nmetadata: c\n---\n', problems: [/^metadata: expected record/] },
  { name: 'a long name', text: `---\nname: ${'a'.repeat(65)}\ndescription: b\n---\n`, problems: ['name: expected at most 64 characters'] },
  ...['Prices', 'a_b', '-a', 'a-', 'a--b', 'a b', 'ä', '""', 'a/../b', '"a\\n"'].map((name) => ({ name: `the name ${name}`, text: `---\nname: ${name}\ndescription: b\n---\n`, problems: [/^name: expected small letters and digits/] }))
]

for (const { name, text, problems } of wrong) {
  t.test(`told is what is wrong with ${name}`, async (t) => {
    const file = readSkillFile(text)
    t.match(file, { ok: false, problems })
    t.equal(file.ok ? 0 : file.problems.length, problems.length)
  })
}

t.test('a name of 64 characters is short enough', async (t) => {
  t.match(readSkillFile(`---\nname: ${'a'.repeat(64)}\ndescription: b\n---\n`), { ok: true })
})
