import t from 'tap'
import { z } from 'zod'
import { compileSchema, isZod, toJsonSchema } from '../../../src/tools/schema.ts'

const order = z.object({ id: z.string(), lines: z.array(z.object({ count: z.number().int().min(1) })).default([]) })
const asJson = { type: 'object', properties: { id: { type: 'string', format: 'email' }, lines: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } } } }, required: ['id'] }

t.test('a zod schema checks, fills in defaults, and names the path of everything wrong', async (t) => {
  const check = compileSchema(order)
  t.strictSame(check({ id: 'a', extra: 1 }), { ok: true, value: { id: 'a', lines: [] } })
  t.match(check({ lines: [{ count: 1 }, { count: 0 }] }), { ok: false, issues: [{ path: 'id' }, { path: 'lines.1.count' }] })
})

t.test('a JSON schema checks, leaves the value alone, and names the path of everything wrong', async (t) => {
  const check = compileSchema(asJson)
  const value = { id: 'a@example.com', extra: 1 }
  t.strictSame(check(value), { ok: true, value })
  t.match(check({ id: 'a', lines: [{ count: 1 }, { count: 0.5 }] }), { ok: false, issues: [{ path: 'id', message: /email/ }, { path: 'lines.1.count' }, { path: 'lines.1.count' }] })
  t.match(check('text'), { ok: false, issues: [{ path: '', message: /object/ }] })
})

t.test('a JSON schema may carry keywords of others, and references of its own', async (t) => {
  const check = compileSchema({ type: 'object', 'x-vendor': true, properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { enum: ['x'] } } })
  t.match(check({ a: 'x' }), { ok: true })
  t.match(check({ a: 'y' }), { ok: false, issues: [{ path: 'a' }] })
})

t.test('the same schema can be compiled again, also where it has an $id', async (t) => {
  const schema = { $id: 'urn:example:a', type: 'string' }
  t.doesNotThrow(() => [compileSchema(schema), compileSchema({ ...schema })])
})

t.test('a JSON schema that cannot be compiled throws', async (t) => {
  t.throws(() => compileSchema({ type: 'objekt' }))
  t.throws(() => compileSchema({ $ref: '#/nowhere' }))
})

t.test('providers get the input side of a zod schema, without the dialect', async (t) => {
  t.strictSame(toJsonSchema(z.object({ a: z.string().transform(Number), b: z.number().default(1) })), {
    type: 'object', properties: { a: { type: 'string' }, b: { default: 1, type: 'number' } }, required: ['a']
  })
  t.equal(toJsonSchema(asJson), asJson)
})

t.test('what zod made is told from JSON schemas by its shape', async (t) => {
  for (const schema of [order, z.string()]) t.equal(isZod(schema), true)
  for (const schema of [asJson, null, undefined, 'text', () => true]) t.equal(isZod(schema), false)
})
