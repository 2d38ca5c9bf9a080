import t from 'tap'
import { legalName, providerNames } from '../../../src/tools/naming.ts'

const legal = /^[a-zA-Z0-9_-]{1,64}$/

t.test('legal names stay as they are, others become legal and stay readable', async (t) => {
  const names = providerNames(['find_book', 'shop.find order', 'über', '***', 'x'.repeat(70)])
  t.equal(names.get('find_book'), 'find_book')
  t.equal(names.get('shop.find order'), 'shop_find_order')
  t.equal(names.get('über'), 'ber')
  t.equal(names.get('***'), 'tool')
  t.match(names.get('x'.repeat(70)), /^x{57}_[0-9a-f]{6}$/)
  for (const name of names.values()) t.match(name, legal)
})

t.test('no two tools get one name, and a legal name is never taken from its owner', async (t) => {
  const given = ['a.b', 'a b', 'a_b', 'a:b', `${'x'.repeat(65)}1`, `${'x'.repeat(65)}2`]
  const names = providerNames(given)
  t.equal(new Set(names.values()).size, given.length)
  t.equal(names.get('a_b'), 'a_b')
  t.strictSame(providerNames(given), names, 'the same set gives the same names')
  t.equal(providerNames(['a', 'a']).size, 1)
})

t.test('a tool that is not offered any more has a legal name too', async (t) => {
  t.equal(legalName('find_book'), 'find_book')
  t.equal(legalName('shop.find'), 'shop_find')
  t.match(legalName('y'.repeat(100)), legal)
})
