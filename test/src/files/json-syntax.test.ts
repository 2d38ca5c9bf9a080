import t from 'tap'
import { jsonFault } from '../../../src/files/json-syntax.ts'

t.test('what is JSON and what is not is the same as for the engine, for thousands of damaged texts', async (t) => {
  const sample = '{"a":[1,-0.5e+10,true,null,false,"x\\n\\u00e9\\"",{}],"b":{"c":[],"d":"日本"}, "e" : 0 }'
  const pieces = ['', '{', '}', '[', ']', ',', ':', '"', '\\', '0', '1', '-', '.', 'e', 'true', 'nul', ' ', '\n', '\t', '\u0001', '\ufeff', 'x', '\\u12']
  let seed = 1
  const random = (below: number) => { seed = (seed * 16_807) % 2_147_483_647; return seed % below }
  const differing: string[] = []
  for (let round = 0; round < 20_000; round++) {
    let text = sample.slice(random(8) === 0 ? random(sample.length) : 0)
    for (let change = random(3); change >= 0; change--) {
      const at = random(text.length + 1)
      text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + random(3))
    }
    if ((jsonFault(text) === undefined) !== isJson(text)) differing.push(text)
  }
  t.strictSame(differing, [])
})

t.test('the fault is where it is', async (t) => {
  for (const [text, at] of [['', 0], ['{"a": oops}', 6], ['[1,]', 3], ['{"a" 1}', 5], ['"a\nb"', 2], ['[1', 2], ['1 2', 2], ['{a:1}', 1], ['"\\x"', 2]] as const) t.equal(jsonFault(text), at, text)
})

t.test('brackets without end cost no more than their number', async (t) => {
  t.equal(jsonFault('['.repeat(2_000_000)), 2_000_000)
  t.equal(jsonFault('['.repeat(1_000_000) + ']'.repeat(1_000_000)), undefined)
})

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // which is the answer
  }
}
