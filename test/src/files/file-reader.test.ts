import { monitorEventLoopDelay } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { createFileReader, type FileReaderOptions } from '../../../src/files/file-reader.ts'
import { readFile } from '../../../src/files/read-file.ts'
import { until } from '../../helpers/app.ts'
import { fixture } from '../../helpers/uploads.ts'

const json = { kind: 'json', mediaType: 'application/json' } as const
const text = { kind: 'text', mediaType: 'text/plain' } as const
const csv = { kind: 'csv', mediaType: 'text/csv' } as const
const jsonl = { kind: 'jsonl', mediaType: 'application/x-ndjson' } as const
const size = 10_485_760
const times = (piece: string) => Buffer.from(piece.repeat(Math.floor(size / Buffer.byteLength(piece))))
/** Ten megabytes that cost as much as ten megabytes can. */
const heavy = () => Buffer.from('[' + '1,'.repeat(size / 2 - 1) + '1]')

const tooMuchMemory = { name: 'UnreadableFile', fault: { code: 'too_complex', message: /memory/ } }

function open (t: Test, options?: FileReaderOptions) {
  const reader = createFileReader(options)
  t.teardown(() => reader.close())
  return reader
}

t.test('a file is read in another thread as in this one, and its faults are told', async (t) => {
  const reader = open(t)
  const read = async (content: string, file: Parameters<typeof readFile>[1]) => {
    const { bytes, facts } = await reader.read(Buffer.from(content), file)
    return [bytes.toString(), facts]
  }
  t.strictSame(await read('größer\n', text), ['größer\n', { encoding: 'utf-8', characters: 7, lines: 1 }])
  t.match(await read('a,b\n1,2\n', csv), ['a,b\n1,2\n', { rows: 1, columns: ['a', 'b'] }])
  const image = { kind: 'image', mediaType: 'image/png' } as const
  const png = await fixture('png_named.jpg')
  t.strictSame(await reader.read(Buffer.from(png), image), readFile(png, image))
  await t.rejects(read('[1,\n2', json), { name: 'UnreadableFile', fault: { code: 'invalid_json', message: /line 2/ } })
  t.match(await read('[1,\n2]', json), ['[1,\n2]', {}])
  t.equal(reader.threads, 1, 'one thread does one file after the other')
})

t.test('what is read at the same time is read side by side', async (t) => {
  const reader = open(t)
  const [one, two] = await Promise.all(['one', 'two'].map((content) => reader.read(Buffer.from(content), text)))
  t.strictSame([one?.bytes.toString(), two?.bytes.toString(), reader.threads], ['one', 'two', 2])
})

t.test('ten megabytes of JSON do not hold up what else this process does', async (t) => {
  const reader = open(t)
  const bytes = heavy()
  const began = performance.now()
  readFile(bytes, json)
  t.ok(performance.now() - began > 50, 'in this thread they would')

  const delays: number[] = []
  // Once is enough: a machine that is busy with something else is late by itself.
  for (let attempt = 0; attempt < 5 && !delays.some((ms) => ms < 50); attempt++) {
    const given = Buffer.from(bytes)
    const histogram = monitorEventLoopDelay({ resolution: 5 })
    await reader.read(Buffer.from('[]'), json)
    histogram.enable()
    await reader.read(given, json)
    histogram.disable()
    delays.push(histogram.max / 1e6)
  }
  t.equal(reader.threads, 0, 'what they left in memory went with their thread')
  t.ok(delays.some((ms) => ms < 50), `late by ${delays.map(Math.round).join(', ')} ms`)
})

const worst: Array<{ name: string, bytes: () => Buffer, file: Parameters<typeof readFile>[1] }> = [
  { name: 'brackets', bytes: () => times('['), file: json },
  { name: 'objects', bytes: () => times('{"a":'), file: json },
  { name: 'lines of JSON', bytes: () => times('1\n'), file: json },
  { name: 'short lines', bytes: () => times('{}\n'), file: jsonl },
  { name: 'lines', bytes: () => times('x\n'), file: text },
  { name: 'fields of one row', bytes: () => times(','), file: csv },
  { name: 'rows', bytes: () => times('a\n'), file: csv },
  { name: 'one quoted field', bytes: () => Buffer.concat([Buffer.from('"'), times('""')]), file: csv },
  { name: 'an open quote', bytes: () => Buffer.concat([Buffer.from('"'), times('é,\n')]), file: csv },
  { name: 'signs of Windows-1252', bytes: () => Buffer.concat([Buffer.from('Grüße aus München, und '.repeat(4_000), 'latin1'), Buffer.alloc(size, 0x80)]), file: text },
  { name: 'NUL characters', bytes: () => Buffer.concat([Buffer.from('x'.repeat(70_000)), times('a\0')]), file: text }
]

for (const { name, bytes, file } of worst) {
  t.test(`ten megabytes of ${name} are read within the limits, or refused with a reason`, async (t) => {
    const reader = open(t)
    const outcome = await reader.read(bytes(), file).then(({ facts }) => facts, (error: unknown) => error)
    t.notMatch(outcome, { fault: { code: 'too_complex' } })
    t.match(outcome, outcome instanceof Error ? { fault: { code: /^invalid_json/ } } : { encoding: String })
  })
}

t.test('a file that takes too much memory fails, and no other', async (t) => {
  const reader = open(t, { maxHeapMb: 12 })
  const other = reader.read(Buffer.from('[1]'), json)
  const pieces = Buffer.from('"' + '""a'.repeat(480_000))
  await t.rejects(reader.read(pieces, csv), tooMuchMemory)
  await t.rejects(reader.read(heavy(), json), tooMuchMemory)
  t.equal((await other).bytes.toString(), '[1]')
  t.equal((await reader.read(Buffer.from('[2]'), json)).bytes.toString(), '[2]')
})

t.test('a file that takes too long fails, and no other', async (t) => {
  const reader = open(t, { timeoutMs: 5 })
  await t.rejects(reader.read(heavy(), json), { name: 'UnreadableFile', fault: { code: 'too_complex', message: 'Reading the file took longer than 0.005 seconds.' } })
  t.equal(reader.threads, 0, 'its thread is given up')
  const patient = open(t)
  t.equal((await patient.read(Buffer.from('[2]'), json)).bytes.toString(), '[2]')
})

t.test('a thread without work is let go, and started again for the next file', async (t) => {
  const reader = open(t, { idleMs: 20 })
  await reader.read(Buffer.from('[1]'), json)
  await until('the thread is gone', () => reader.threads === 0)
  t.equal((await reader.read(Buffer.from('[2]'), json)).bytes.toString(), '[2]')
  const reading = reader.read(heavy(), json)
  await Promise.all([t.rejects(reading, /has ended/), reader.close()])
})
