import t from 'tap'
import type { Session } from '../../../../src/tools/mcp/session.ts'
import { createSessions } from '../../../../src/tools/mcp/sessions.ts'

t.test('a session is kept for its key while it is asked for, and forgotten 15 minutes after', async (t) => {
  const { get, made, pass } = world()
  const first = get('a')
  pass(899_999)
  t.equal(get('a'), first)
  pass(899_999)
  t.not(get('b'), first)
  t.equal(get('a'), first)
  pass(900_000)
  get('b')
  t.match(made, [{ key: 'a', dropped: 1 }, { key: 'b', dropped: 0 }])
  t.not(get('a'), first)
})

t.test('a session that is in use is not forgotten', async (t) => {
  const { get, made, pass } = world()
  const first = get('a')
  const [a] = made
  if (a !== undefined) a.busy = true
  pass(900_000)
  get('b')
  t.equal(get('a'), first)
  t.equal(a?.dropped, 0)
})

t.test('of more than 500 sessions those asked for longest ago are forgotten', async (t) => {
  const { get, made } = world()
  for (let i = 0; i < 500; i++) get(String(i))
  get('0')
  get('one more')
  t.strictSame(made.filter(({ dropped }) => dropped > 0).map(({ key }) => key), ['1'])
})

function world () {
  let time = 0
  const made: { key: string, busy: boolean, dropped: number }[] = []
  const sessions = createSessions({ now: () => time })
  const create = (key: string): Session => {
    const state = { key, busy: false, dropped: 0 }
    made.push(state)
    return { tools: async () => [], drop: () => { state.dropped++ }, busy: () => state.busy }
  }
  return { made, get: (key: string) => sessions.get(key, () => create(key)), pass: (ms: number) => { time += ms } }
}
