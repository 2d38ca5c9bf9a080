import { readFile } from 'node:fs/promises'
import t from 'tap'
import { runEventBodySchema } from '../../src/events/run-event.ts'
import { protocolNames } from '../../src/messages/wire.ts'
import { completionHeaders } from '../../src/protocols/openai/chunks.ts'
import { protocolNamed } from '../../src/protocols/registry.ts'
import { fullTranscripts, transcripts as agUiTranscripts } from '../src/protocols/ag-ui/transcripts.ts'
import { transcripts } from '../src/protocols/ai-sdk/transcripts.ts'

const page = await readFile(new URL('../../docs/protocols.md', import.meta.url), 'utf8')
const table = page.slice(page.indexOf('## Events on the wires'), page.indexOf('## ai-sdk'))
const rows = Array.from(table.matchAll(/^\|([^|]*)\|([^|]*)\|/gm), ([, events = '', chunks = '']) => ({ events: named(events), chunks: named(chunks) }))

t.test('docs/protocols.md tells once what becomes of every event', async (t) => {
  t.strictSame(rows.flatMap(({ events }) => events).sort(), runEventBodySchema.options.map(({ shape }) => shape.type.value).sort())
})

t.test('docs/protocols.md names every chunk that the transcripts show', async (t) => {
  const documented = new Set([...rows.flatMap(({ events, chunks }) => [...events, ...chunks])])
  const shown = new Set(transcripts.flatMap(({ wire }) => wire.map((json) => String(JSON.parse(json).type))))
  for (const type of shown) t.ok(documented.has(type) || type === 'data-chart' || type === 'data-ping', type)
})

t.test('docs/protocols.md names every event of ag-ui that the transcripts show, and no other', async (t) => {
  const section = page.slice(page.indexOf('## ag-ui'), page.indexOf('## native'))
  const documented = new Set([...`${table}${section}`.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, type]) => type))
  const shown = new Set([...agUiTranscripts, ...fullTranscripts].flatMap(({ wire }) => wire.map((json) => String(JSON.parse(json).type))))
  t.strictSame([...documented].sort(), [...shown].sort())
})

t.test('docs/protocols.md lists the protocols with their content types', async (t) => {
  const listed = [...protocolNames.map(protocolNamed), { name: 'openai', headers: completionHeaders }]
  for (const { name, headers } of listed) t.match(page, new RegExp(`^\\| \`${name}\` \\|.*\`${headers['content-type']}\``, 'm'))
})

function named (cell: string): string[] {
  return Array.from(cell.matchAll(/`([a-z-]+)`/g), ([, name = '']) => name)
}
