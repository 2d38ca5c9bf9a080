import t from 'tap'
import { validate, version } from 'uuid'
import { newId } from '../../src/ids.ts'

t.test('ids are UUIDs of version 7, unique, and in the order they were made in', async (t) => {
  const ids = Array.from({ length: 20_000 }, newId)
  t.ok(ids.every((id) => validate(id) && version(id) === 7))
  t.equal(new Set(ids).size, ids.length)
  t.strictSame([...ids].sort(), ids)
})

t.test('an id tells when it was made, and what is random in it is not that of its neighbours', async (t) => {
  const before = Date.now()
  const ids = Array.from({ length: 600 }, newId)
  for (const id of ids) {
    const made = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    t.ok(made >= before - 1_000 && made <= Date.now() + 1_000)
  }
  t.equal(new Set(ids.map((id) => id.slice(-10))).size, ids.length)
})
