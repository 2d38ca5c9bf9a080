import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { createFileLoader } from '../../../src/agents/load-file.ts'

t.test("files outside of the package get the running build as 'parley' and its copy of zod", async (t) => {
  const folder = await outside(t, {
    'a.ts': `
      import { defineTool, z, prompt } from 'parley'
      import zod from 'zod'
      import { shared } from './b.mjs'
      export const tool: unknown = defineTool({ name: 'x', input: z.object({ a: z.string() }) })
      export const text = prompt('  hi')
      export const schema = zod.string()
      export { shared }
    `,
    'b.mjs': "import { defineAgent } from 'parley'\nexport const shared = defineAgent({ key: 'shared' })\n"
  })
  const load = createFileLoader()
  const [a, b] = [await load(join(folder, 'a.ts')), await load(join(folder, 'b.mjs'))]
  if (!a.ok || !b.ok) return t.fail(JSON.stringify([a, b]))
  t.match(a.exports, { tool: { kind: 'tool', name: 'x' }, text: 'hi', shared: { kind: 'agent', key: 'shared' } })
  t.ok(a.exports['schema'] instanceof z.ZodType)
  t.equal(a.exports['shared'], b.exports['shared'], 'a module that two files import is evaluated once')
})

t.test('an unusable definition does not stop the file that makes it', async (t) => {
  const folder = await outside(t, { 'a.ts': "import { defineAgent, defineTool } from 'parley'\nexport const a = defineAgent({ key: '' })\nexport const b = defineTool({ name: '' })\nexport default 1\n" })
  t.match(await createFileLoader()(join(folder, 'a.ts')), { ok: true, exports: { a: { kind: 'agent', key: '' }, b: { kind: 'tool', name: '' }, default: 1 } })
})

const broken = [
  { file: 'code.ts', text: "export const a = {\n  b: 'x\n}\n", reason: 'line 2, column 6: Unterminated string constant.' },
  { file: 'code.mjs', text: 'export const a = 1\nconst {\n', reason: /^line 3, column 1: Unexpected token/ },
  { file: 'throws.ts', text: "throw new TypeError('no such thing')\n", reason: 'could not be loaded: TypeError: no such thing' },
  { file: 'imports.ts', text: "import { a } from './missing.ts'\nexport const b = a\n", reason: /^could not be loaded: .*missing\.ts/ },
  { file: 'list.yaml', text: 'key: a\nname: [b\ndescription: c\n', reason: /^line [23], column \d+: / },
  { file: 'twice.yaml', text: 'key: a\nkey: b\n', reason: /^line 2, column 1: Map keys must be unique/ },
  { file: 'comma.json', text: '{\n  "key": "a"\n  "name": "b"\n}\n', reason: /^line 3, column \d+: / }
]

for (const { file, text, reason } of broken) {
  t.test(`${file} that cannot be read is answered with where and why`, async (t) => {
    const folder = await outside(t, { [file]: text })
    t.match(await createFileLoader()(join(folder, file)), { ok: false, reason })
  })
}

t.test('a file that is not there is said to be missing', async (t) => {
  const folder = await outside(t, {})
  t.strictSame(await createFileLoader()(join(folder, 'nothing.yaml')), { ok: false, reason: 'does not exist' })
  t.match(await createFileLoader()(join(folder, 'nothing.ts')), { ok: false })
})

t.test('data files keep the types of their values', async (t) => {
  const folder = await outside(t, { 'a.json': '{ "key": "a", "maxSteps": 3 }', 'b.yaml': 'key: a\nmaxSteps: 3\ninstructions: |\n  one\n  two\n' })
  t.strictSame(await createFileLoader()(join(folder, 'a.json')), { ok: true, exports: { default: { key: 'a', maxSteps: 3 } } })
  t.strictSame(await createFileLoader()(join(folder, 'b.yaml')), { ok: true, exports: { default: { key: 'a', maxSteps: 3, instructions: 'one\ntwo\n' } } })
})

/** A folder that belongs to no package, as an operator mounts it. */
async function outside (t: Test, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-files-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}
