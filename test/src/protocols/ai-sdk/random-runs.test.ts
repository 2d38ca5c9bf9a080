import t from 'tap'
import { checkOrder } from '../../../../src/events/order.ts'
import { partsToEvents } from '../../../../src/messages/replay.ts'
import { messagePartSchema } from '../../../../src/messages/parts.ts'
import { aiSdkProtocol } from '../../../../src/protocols/ai-sdk/encode.ts'
import { clientNames, foldStream, portableKeys, validateMessages } from '../../../helpers/ai-clients.ts'
import { randomRun, seeded } from '../../../helpers/random-run.ts'
import { asJson, assemble, encodeAll, ended, started } from '../../../helpers/run-events.ts'

const seeds = Array.from({ length: 60 }, (_, seed) => seed + 1)

t.test('whatever a run does, every client ends with the parts that are stored', async (t) => {
  for (const seed of seeds) {
    const events = randomRun(seeded(seed))
    const stored = asJson(assemble(events))
    const { text } = await encodeAll(aiSdkProtocol, events, { batchSize: 1 + seed % 5 })
    if (!t.strictSame(checkOrder(events), [], `seed ${seed}: the generator keeps the order`)) return
    for (const client of clientNames) {
      const { message, chunks } = await foldStream(client, text)
      if (!t.strictSame(asJson(message?.parts), stored, `seed ${seed} on ${client}`)) return
      t.strictSame(portableKeys(chunks), [], `seed ${seed} on ${client}: portable`)
      if (stored.length > 0) await validateMessages(client, [{ id: 'a', role: 'assistant', parts: stored }])
    }
    t.strictSame(asJson(messagePartSchema.array().parse(stored)), stored, `seed ${seed}: the parts are what the schema says`)
  }
})

t.test('whatever is stored, its replay makes the same parts again, in memory and in every client', async (t) => {
  for (const seed of seeds) {
    const stored = assemble(randomRun(seeded(seed)))
    const events = [started, ...partsToEvents(stored), ended(), { type: 'run-completed' as const }]
    if (!t.strictSame(checkOrder(events), [], `seed ${seed}: in order`)) return
    if (!t.strictSame(asJson(assemble(events)), asJson(stored), `seed ${seed}: in memory`)) return
    const { text } = await encodeAll(aiSdkProtocol, events)
    const client = clientNames[seed % 3] ?? 'ai5'
    if (!t.strictSame(asJson((await foldStream(client, text)).message?.parts), asJson(stored), `seed ${seed} on ${client}`)) return
  }
})

t.test('a snapshot taken anywhere in a run, with the rest of the run after it, ends the same', async (t) => {
  for (const seed of seeds) {
    const random = seeded(seed)
    const events = randomRun(random)
    const cut = 1 + Math.floor(random() * (events.length - 2))
    const snapshot = { type: 'snapshot' as const, parts: [...assemble(events.slice(0, cut))] }
    const shortened = [started, snapshot, ...events.slice(cut)]
    const whole = asJson(assemble(events))
    if (!t.strictSame(asJson(assemble(shortened)), whole, `seed ${seed}: in memory, cut at ${cut}`)) return
    const { text } = await encodeAll(aiSdkProtocol, shortened)
    const client = clientNames[seed % 3] ?? 'ai5'
    if (!t.strictSame(asJson((await foldStream(client, text)).message?.parts), whole, `seed ${seed} on ${client}, cut at ${cut}`)) return
  }
})
