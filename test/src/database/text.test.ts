import t from 'tap'
import { searchable, storable } from '../../../src/database/text.ts'

t.test('stored text has no NUL and no half characters, and is otherwise untouched', async (t) => {
  t.equal(storable('a\0b\uD83Dc\uDE00d'), 'ab\uFFFDc\uFFFDd')
  t.equal(storable('Ünïcode 😀\n\t'), 'Ünïcode 😀\n\t')
})

t.test('searched text is the same in every case and spelling', async (t) => {
  t.equal(searchable('E\u0301TUDE'), searchable('étude'))
  t.equal(searchable('ΟΔΟΣ'), searchable('οδος'))
  t.equal(searchable('ПРИВЕТ\0'), 'привет')
})
