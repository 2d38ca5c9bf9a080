import t from 'tap'
import { tableFacts } from '../../../src/files/read-table.ts'

const cases: ReadonlyArray<readonly [name: string, text: string, facts: object]> = [
  ['commas', 'a,b\n1,2\n3,4\n', { rows: 2, columns: ['a', 'b'], delimiter: ',' }],
  ['semicolons and decimal commas', 'a;b\r\n1,5;2,5\r\n3,5;4,5', { rows: 2, columns: ['a', 'b'], delimiter: ';' }],
  ['bars and blank lines', '\na|b|c\n\n1|2|3\n\n', { rows: 1, columns: ['a', 'b', 'c'], delimiter: '|' }],
  ['quoted delimiters, quotes and line ends', 'a,"b ""x"", y"\n"1\n2","3,4"\n', { rows: 1, columns: ['a', 'b "x", y'], delimiter: ',' }],
  ['one column', 'a\n1\n2', { rows: 2, columns: ['a'], delimiter: ',' }],
  ['uneven rows', 'a,b\n1\n2,3', { rows: 2, columns: ['a', 'b'], note: '1 of 2 rows have another number of fields than the header.' }],
  ['more fields than are kept', `${'a,'.repeat(300)}b\n${','.repeat(300)}\n1\n`, { rows: 2, columns: Array(200).fill('a'), note: '1 of 2 rows have another number of fields than the header.' }],
  ['quotes inside and behind quotes', 'a"b","c"d",""""\n1,"2', { rows: 1, columns: ['a"b"', 'cd"', '"'] }],
  ['a header alone', 'a,b', { rows: 0, columns: ['a', 'b'] }]
]
for (const [name, text, facts] of cases) {
  t.test(`a table with ${name} is understood`, async (t) => {
    t.match(tableFacts(text, 'text/csv'), facts)
  })
}

t.test('tabs separate what is declared so, whatever is more frequent', async (t) => {
  t.match(tableFacts('a, x\tb, y\n1\t2', 'text/tab-separated-values'), { columns: ['a, x', 'b, y'], delimiter: '\t' })
})
