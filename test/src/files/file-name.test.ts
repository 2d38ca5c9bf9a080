import t from 'tap'
import { contentDisposition, extensionOf, shownName } from '../../../src/files/file-name.ts'

const shown: ReadonlyArray<readonly [sent: string | undefined, shown: string]> = [
  ['report.txt', 'report.txt'], ['../../etc/passwd', 'passwd'], ['C:\\fakepath\\a.txt', 'a.txt'], ['..%2f..%5cx.txt', 'x.txt'],
  ['e\u0301.txt', 'é.txt'], ['a\u0000\r\nb.txt', 'ab.txt'], ['photo\u202egpj.exe', 'photogpj.exe'], ['x\ud83d.txt', 'x.txt'],
  ['', 'unnamed'], [undefined, 'unnamed'], ['..', 'unnamed'], ['.hidden', '.hidden'], ['CON .txt.', 'CON .txt.']
]
for (const [sent, name] of shown) t.test(`a file sent as ${JSON.stringify(sent)} is called ${name}`, async (t) => { t.equal(shownName(sent), name) })

t.test('a very long name keeps its end', async (t) => {
  const name = shownName(`${'😀'.repeat(400)}.txt`)
  t.equal([...name].length, 255)
  t.match(name, /….*\.txt$/u)
})

t.test('an extension is what follows the last dot of a name', async (t) => {
  for (const [name, extension] of [['a.TXT', 'txt'], ['a.tar.gz', 'gz'], ['CON .txt. ', 'txt'], ['.txt', ''], ['README', ''], ['a.b c', '']] as const) t.equal(extensionOf(name), extension, name)
})

t.test('a header holds any name, and no name ends it', async (t) => {
  t.equal(contentDisposition('inline', 'a.png'), 'inline; filename="a.png"; filename*=UTF-8\'\'a.png')
  t.equal(contentDisposition('attachment', 'é"\\😀\'(1)*.txt'), 'attachment; filename="e___\'(1)*.txt"; filename*=UTF-8\'\'%C3%A9%22%5C%F0%9F%98%80%27%281%29%2A.txt')
})
