import t from 'tap'
import { prompt } from '../../../src/agents/prompt.ts'

const cases = [
  { name: 'common indentation and outer blank lines go', text: '\n\n    You are a pirate.\n      - Be brief.\n\n    Ahoy!\n  \n', out: 'You are a pirate.\n  - Be brief.\n\nAhoy!' },
  { name: 'one line stays as it is', text: 'You are a helpful agent.', out: 'You are a helpful agent.' },
  { name: 'text whose first line is not indented keeps the indentation below it', text: 'Rules:\n  - one', out: 'Rules:\n  - one' },
  { name: 'tabs are indentation too', text: '\n\t\tA\n\t\t\tB\n', out: 'A\n\tB' },
  { name: 'tabs and spaces have nothing in common', text: '\n\tA\n  B\n', out: '\tA\n  B' },
  { name: 'blank lines inside lose their spaces and do not count as indentation', text: '\n  A\n \n  B', out: 'A\n\nB' },
  { name: 'Windows line ends are line ends', text: '\r\n  A\r\n    B\r\n', out: 'A\n  B' },
  { name: 'nothing stays nothing', text: ' \n \n', out: '' }
]

for (const { name, text, out } of cases) t.test(`prompt(): ${name}`, async (t) => { t.equal(prompt(text), out) })

t.test('as a tag it measures the template and leaves what is put into it alone', async (t) => {
  const list = '- one\n- two'
  t.equal(prompt`
    Rules for ${'all'}:
      ${list}
    ${3} in all.
  `, 'Rules for all:\n  - one\n- two\n3 in all.')
  t.equal(prompt`${'  indented'}`, '  indented')
})
