import { readFile } from 'node:fs/promises'
import t from 'tap'
import { variables } from '../../src/config.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'

const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8')

t.test('docs/operations.md lists every metric there is with its kind and meaning, and no other', async (t) => {
  const metrics = createMetrics()
  t.teardown(metrics.close)
  const text = await metrics.render()
  const kinds = new Map(Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name = '', kind = '']) => [name, kind]))
  const there = Array.from(text.matchAll(/^# HELP (\w+) (.+)$/gm), ([, name = '', help = '']) => `${name} ${kinds.get(name)} ${help}`)
  const documented = Array.from(page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \|[^|]*\| (.+) \|$/gm), ([, name = '', kind = '', help = '']) => `${name} ${kind} ${help}`)
  t.ok(there.length >= 15)
  t.strictSame(documented.sort(), there.sort())
})

t.test('variables that docs/operations.md names are there', async (t) => {
  const ofTheSdk = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG']
  const known = [...variables.map(({ name }) => name), ...ofTheSdk, 'POSTGRES_PASSWORD']
  const named = new Set(Array.from(page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g), ([, name = '']) => name))
  t.ok(named.size > 10)
  for (const name of named) t.ok(known.includes(name) || name === 'HEALTHCHECK', name)
})

t.test('metrics that docs/operations.md speaks of are in its table', async (t) => {
  const named = new Set(Array.from(page.matchAll(/`((?:parley|process|nodejs)_\w+)/g), ([, name = '']) => name))
  for (const name of named) t.match(page, new RegExp(`^\\| \`${name}\` \\| (counter|gauge|histogram)`, 'm'), name)
})
