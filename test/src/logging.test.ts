import { pino } from 'pino'
import t from 'tap'
import { loggerOptions } from '../../src/logging.ts'

const revoked = Proxy.revocable({}, {})
revoked.revoke()

const thrown: readonly { name: string, value: unknown, line: object }[] = [
  { name: 'an error', value: new Error('plain'), line: { err: { type: 'Error', message: 'plain' } } },
  { name: 'a frozen error', value: Object.freeze(new TypeError('frozen')), line: { err: { type: 'TypeError', message: 'frozen', stack: /logging\.test/ } } },
  { name: 'an error with a frozen cause', value: new Error('outer', { cause: Object.freeze(new Error('inner')) }), line: { err: { message: /outer/ } } },
  { name: 'what cannot be read', value: revoked.proxy, line: { err: { type: 'unreadable' } } },
  { name: 'no error at all', value: null, line: { err: null } }
]

for (const { name, value, line } of thrown) {
  t.test(`${name} can be logged`, async (t) => {
    const lines: string[] = []
    const log = pino(loggerOptions({ logLevel: 'info' }), { write: (text: string) => { lines.push(text) } })
    log.warn({ err: value }, 'tool call failed')
    t.match(JSON.parse(lines[0] ?? ''), { msg: 'tool call failed', ...line })
  })
}
