import t, { type Test } from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { createKeyVerifier } from '../../../src/auth/key-verifier.ts'
import { main } from '../../../src/cli/main.ts'
import { startMcpServer } from '../../helpers/mcp-server.ts'

t.test('check says that the configuration is usable and what it holds', async (t) => {
  const { code, out, err } = await parley(t, ['check'], { files: { 'parley.config.yaml': 'agents: [{ key: a }, { key: b, hidden: true }]\n' } })
  t.equal(out, 'OK: parley.config.yaml holds 2 agents (1 hidden), default agent a, default model offline\n')
  t.equal(err, '')
  t.equal(code, 0)
})

t.test('check lists the mistakes of the environment and of the configuration together and exits with 1', async (t) => {
  const { code, out, err } = await parley(t, ['check'], { files: { 'parley.config.yaml': 'agents: [{ key: a, maxSteps: no }, { key: b, tool: x }]\n' }, env: { PORT: 'x', DEFAULT_AGENT: 'c' } })
  t.equal(code, 1)
  t.equal(out, '')
  t.match(err, /^environment: PORT: expected .*\nparley\.config\.yaml: agent "a": maxSteps: .*\nparley\.config\.yaml: agent "b": unknown attribute "tool"\. Did you mean "tools"\?\nenvironment: DEFAULT_AGENT: no agent "c"\..*\n\n4 problems found\.\n$/)
})

t.test('check takes the file to check, and passes warnings on', async (t) => {
  const files = { 'parley.config.yaml': 'agents: []\n', 'other.json': '{ "agents": [{ "key": "a", "requiredTools": ["x"] }] }' }
  const { code, out, err } = await parley(t, ['check', 'other.json'], { files })
  t.match(out, /^OK: other\.json holds 1 agent, /)
  t.match(err, /^warning: other\.json: agent "a": requiredTools: .*\n$/)
  t.equal(code, 0)
  t.match(await parley(t, ['check', 'gone.json'], { files }), { code: 1, err: /^gone\.json: does not exist\n/ })
})

t.test('check connects to no integration', async (t) => {
  const server = await startMcpServer(t)
  const config = { agents: [{ key: 'a', integrations: ['far', 'near'] }], integrations: { far: { type: 'mcp', url: server.url }, near: { type: 'mcp', command: 'no-such-command' } } }
  const { code, err } = await parley(t, ['check'], { files: { 'parley.config.json': JSON.stringify(config) }, env: { EGRESS_ALLOW: '127.0.0.1' } })
  t.strictSame({ code, err, heard: server.heard }, { code: 0, err: '', heard: [] })
})

t.test('agents lists all of them, hidden ones marked, in columns', async (t) => {
  const { code, out } = await parley(t, ['agents'], { files: { 'parley.config.yaml': 'agents: [{ key: a, name: The first }, { key: long.key, hidden: true }]\n' } })
  t.equal(out, [
    'KEY       ID                                    NAME       MODEL',
    `a         ${agentId('a')}  The first  offline`,
    `long.key  ${agentId('long.key')}  long.key   offline  hidden`,
    ''
  ].join('\n'))
  t.equal(code, 0)
  t.match(await parley(t, ['agents'], { files: { 'parley.config.yaml': 'agents: []\n' } }), { code: 1, out: '', err: /no agents/ })
})

t.test('key prints a new key with the entry that lets it in, and nothing else to the output', async (t) => {
  const { code, out, err } = await parley(t, ['key', 'ada', '--tenant', 'north', '--role', 'admin', '--role', 'reader'])
  t.equal(code, 0)
  const [, key = '', json = ''] = /^key: {3}(parley_[\w-]{43})\nentry: (\{.*\})\n$/.exec(out) ?? []
  const entry = JSON.parse(json)
  t.match(entry, { user: 'ada', tenant: 'north', roles: ['admin', 'reader'] })
  t.match(await createKeyVerifier([entry])(key), { ok: true, principal: { userId: 'ada', tenantId: 'north' } })
  t.match(err, /once/)
  t.notMatch(err, key)
  const plain = await parley(t, ['key', 'ada'])
  t.match(plain.out, /"tenant":"default","roles":\[\]/)
  t.not(plain.out.split('\n')[0], out.split('\n')[0])
  for (const argv of [['key'], ['key', ''], ['key', 'a', 'b'], ['key', 'a', '--tennant', 'x'], ['key', 'a', '--role'], ['key', 'a', '--tenant', ''], ['key', 'a\nb']]) {
    t.match(await parley(t, argv), { code: 2, out: '', err: /parley key <user>/ }, argv.join(' '))
  }
})

t.test('start starts the server and nothing else does', async (t) => {
  t.match(await parley(t, ['start']), { code: 0, started: 1 })
  t.match(await parley(t, ['check']), { code: 0, started: 0 })
})

t.test('help and version are answers, wrong usage is an error', async (t) => {
  for (const argv of [['--help'], ['-h'], ['help'], ['check', '--help']]) t.match(await parley(t, argv), { code: 0, out: /^Usage: parley <command>/, err: '' }, argv.join(' '))
  for (const argv of [['--version'], ['-v']]) t.match(await parley(t, argv), { code: 0, out: '1.2.3\n', err: '' }, argv.join(' '))
  for (const argv of [[], ['chek'], ['check', 'a', 'b'], ['check', '--fast'], ['agents', 'a'], ['start', 'now']]) {
    t.match(await parley(t, argv), { code: 2, out: '', err: /Usage: parley <command>/, started: 0 }, argv.join(' '))
  }
})

async function parley (t: Test, argv: readonly string[], { files = {}, env = {} }: { files?: Record<string, string>, env?: Record<string, string> } = {}) {
  const cwd = t.testdir(files)
  const seen = { out: '', err: '', started: 0 }
  const code = await main({ argv, cwd, env, version: '1.2.3', out: (text) => { seen.out += text }, err: (text) => { seen.err += text }, start: async () => { seen.started++ } })
  return { code, ...seen }
}
