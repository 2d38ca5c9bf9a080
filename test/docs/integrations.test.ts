import { readFile } from 'node:fs/promises'
import t from 'tap'
import { localIntegrationSchema, remoteIntegrationSchema } from '../../src/tools/integration.ts'

t.test('docs/integrations.md describes every attribute with its default, and no other', async (t) => {
  const page = await readFile('docs/integrations.md', 'utf8')
  const table = /## Attributes\n(.*?)\n## /s.exec(page)?.[1] ?? ''
  const rows = new Map([...table.matchAll(/^\| (`.+?) \| (.+?) \| .+ \|$/gm)].flatMap(([, names = '', fallback = '']) => names.split(', ').map((name, at) => [name.replaceAll('`', ''), fallback.split(', ')[at]?.replaceAll('`', '')])))
  t.strictSame([...rows.keys()].sort(), [...new Set([...Object.keys(remoteIntegrationSchema.shape), ...Object.keys(localIntegrationSchema.shape)])].sort())
  const defaults: Record<string, unknown> = { ...remoteIntegrationSchema.parse({ type: 'mcp', url: 'https://example.com' }), ...localIntegrationSchema.parse({ type: 'mcp', command: 'x' }) }
  for (const name of ['timeoutMs', 'idleMs', 'showErrors', 'transport']) t.equal(rows.get(name), String(defaults[name]), name)
})
