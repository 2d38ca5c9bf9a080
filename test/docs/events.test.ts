import { readFile } from 'node:fs/promises'
import t from 'tap'
import { isTerminal, runEventBodySchema, type RunEventBody } from '../../src/events/run-event.ts'

const page = await readFile(new URL('../../docs/events.md', import.meta.url), 'utf8')

t.test('docs/events.md tells every event with its fields, and no other', async (t) => {
  const types = page.slice(page.indexOf('## Types'), page.indexOf('## Order'))
  const documented = Array.from(types.matchAll(/^\| `([a-z-]+)` \|([^|]*)\|/gm), ([, type = '', fields = '']) => [type, Array.from(fields.matchAll(/`([^`]+)`/g), ([, field]) => field).sort()])
  const defined = runEventBodySchema.options.map(({ shape }) => {
    const fields = Object.entries(shape).filter(([name]) => name !== 'type' && name !== 'agentPath')
    return [shape.type.value, fields.map(([name, schema]) => isOptional(schema) ? `${name}?` : name).sort()]
  })
  t.strictSame(Object.fromEntries(documented), Object.fromEntries(defined))
  t.equal(documented.length, defined.length)
})

t.test('docs/events.md calls exactly the terminal events terminal', async (t) => {
  const documented = Array.from(page.matchAll(/^\| `([a-z-]+)` \|[^|]*\| Terminal:/gm), ([, type]) => type).sort()
  const defined = runEventBodySchema.options.map(({ shape }) => shape.type.value).filter((type) => isTerminal({ type } as RunEventBody)).sort() // only the type is looked at
  t.strictSame(documented, defined)
})

/** JSON values accept undefined too, but are always there. */
function isOptional (schema: { _zod: { def: { type: string } } }): boolean {
  return schema._zod.def.type === 'optional'
}
