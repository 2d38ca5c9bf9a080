import t from 'tap'
import { groupToolName, memberToolNames, slugOf } from '../../../src/agents/crew-names.ts'
import { agentId } from '../../../src/agents/ids.ts'

const member = (name: string, id = agentId(name)) => ({ name, id })
const none: ReadonlySet<string> = new Set()

t.test('a member is asked by its display name, as a tool may be called', async (t) => {
  t.strictSame(memberToolNames([member('Look It Up!'), member('Übersetzer (DE)')], none), ['look_it_up', 'ubersetzer_de'])
  t.match(slugOf('日程'), /^agent_[0-9a-f]{6}$/, 'a name of which nothing is left')
  t.strictSame(['request', 'handover'].map((mode) => groupToolName(mode as 'request')), ['delegate', 'hand_over'])
})

t.test('names that collide get as much of the id as makes them unique, whatever the order', async (t) => {
  const [a, b] = [member('Twin', '11111122-0000-4000-8000-000000000001'), member('twin', '11111133-0000-4000-8000-000000000002')]
  const taken = new Set(['twin_111111'])
  t.strictSame(memberToolNames([a, b], none), ['twin_111111', 'twin_11111133'])
  t.strictSame(memberToolNames([a, b], taken), ['twin_11111122', 'twin_11111133'], 'other tools keep theirs')
  t.strictSame(memberToolNames([b, a], taken), ['twin_11111133', 'twin_11111122'])
})

t.test('no name is longer than 64 characters, its piece of the id included', async (t) => {
  const long = 'x'.repeat(90)
  const names = memberToolNames([member(`${long}1`, agentId('one')), member(`${long}2`, agentId('two')), member('y'.repeat(90))], none)
  t.equal(new Set(names).size, 3)
  for (const name of names) t.match(name, /^[a-z0-9_]{64}$/)
})
