import t from 'tap'
import { evaluate } from '../../../agents/tools/arithmetic.ts'

const sums: readonly (readonly [string, number])[] = [
  ['2 + 3 * 4', 14], ['(2 + 3) * 4', 20], ['10 - 4 - 3', 3], ['12 / 4 / 3', 1], ['2 ^ 3 ^ 2', 512], ['-2 ^ 2', -4], ['2 ^ -1', 0.5], ['7 % 4', 3],
  ['2 * -3', -6], ['--3', 3], ['.5 + 1.25', 1.75], ['1e3 + 1', 1001], ['3 × 4 ÷ 2', 6], ['5 − 2', 3], ['2 ** 3', 8], [' 1+1 = ?', 2], ['((((1))))', 1]
]

for (const [expression, value] of sums) {
  t.test(`"${expression}" is ${value}`, async (t) => t.strictSame(evaluate(expression), { ok: true, value }))
}

const nonsense: readonly (readonly [string, RegExp])[] = [
  ['', /ends where a number was expected/], ['2 +', /ends where a number/], ['(2 + 3', /a closing parenthesis/], ['2 3', /"3" stands where an operator/], ['2)', /"\)" stands/],
  ['1 / 0', /not a finite number/], ['9 ^ 9999', /not a finite number/], ['1.2.3', /stands where an operator/], ['process.exit(1)', /"p" stands where a number/],
  ['constructor', /stands where a number/], ['('.repeat(600), /longer than 500/]
]

for (const [expression, problem] of nonsense) {
  t.test(`"${expression.slice(0, 20)}" is a problem in words and not an exception`, async (t) => t.match(evaluate(expression), { ok: false, problem }))
}
