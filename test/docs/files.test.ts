import { readFile } from 'node:fs/promises'
import t from 'tap'
import { acceptedTypes } from '../../src/files/accepted-types.ts'

t.test('docs/files.md names an extension of every type that is accepted', async (t) => {
  const page = await readFile('docs/files.md', 'utf8')
  for (const { extensions: [extension] } of acceptedTypes) t.match(page, `\`${extension}\``)
})
