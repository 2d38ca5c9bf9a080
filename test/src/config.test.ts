import { readFile } from 'node:fs/promises'
import t from 'tap'
import { newKey } from '../../src/auth/new-key.ts'
import { InvalidEnvironment, loadConfig, variables } from '../../src/config.ts'

t.test('an empty environment gives the defaults, frozen', async (t) => {
  const config = loadConfig({})
  t.strictSame({ ...config }, {
    host: '127.0.0.1',
    port: 3000,
    trustProxy: false,
    corsOrigins: [],
    maxBodyBytes: 1_048_576,
    auth: 'none',
    authAllowAnonymous: false,
    authKeys: [],
    authTenantClaim: 'tenant',
    authRolesClaim: 'roles',
    rateLimitPerMinute: 0,
    authFailuresPerMinute: 300,
    dataDir: './data',
    databaseUrl: 'file:./data/parley.db',
    maxUploadBytes: 10_485_760,
    maxUploadFiles: 10,
    inlineTextChars: 4000,
    offlineWordDelayMs: 15,
    egressAllow: [],
    heartbeatMs: 15_000,
    approvalTtlMs: 86_400_000,
    runGraceMs: 60_000,
    drainTimeoutMs: 30_000,
    toolOutputLimit: 100_000,
    subagentDigestLimit: 6_000,
    historyToolOutputLimit: 4000,
    otelServiceName: 'parley',
    otelInstrumentationGenaiCaptureMessageContent: false,
    logLevel: 'info'
  })
  t.ok(Object.isFrozen(config))
})

t.test('values are parsed to the types the service works with', async (t) => {
  const config = loadConfig({
    PORT: '0',
    HEARTBEAT_MS: '50',
    AUTH_ALLOW_ANONYMOUS: 'true',
    HOST: '0.0.0.0',
    DATA_DIR: '/srv/parley/',
    CORS_ORIGINS: 'https://a.example, http://localhost:5173 ,',
    PUBLIC_URL: 'https://chat.example.com/',
    OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/',
    TOOL_OUTPUT_LIMIT: '0',
    UNRELATED: 'is left alone'
  })
  t.match(config, {
    port: 0,
    heartbeatMs: 50,
    authAllowAnonymous: true,
    databaseUrl: 'file:/srv/parley/parley.db',
    corsOrigins: ['https://a.example', 'http://localhost:5173'],
    publicUrl: 'https://chat.example.com',
    openaiBaseUrl: 'http://127.0.0.1:11434/v1',
    toolOutputLimit: 0
  })
  t.notOk('unrelated' in config)
})

t.test('a variable that is set to nothing counts as absent', async (t) => {
  t.match(loadConfig({ PORT: '', OPENAI_API_KEY: '  ', HOST: '' }), { port: 3000, host: '127.0.0.1', openaiApiKey: undefined })
})

t.test('EGRESS_ALLOW takes hosts, addresses and networks, the first two with a port or without', async (t) => {
  const entries = ['tools.internal', 'localhost:8931', '127.0.0.1', '127.0.0.1:8931', '10.0.0.0/8', '::1', '[::1]:8931', 'fd00::/8']
  t.strictSame(loadConfig({ EGRESS_ALLOW: entries.join(' , ') }).egressAllow, entries)
})

t.test('TRUST_PROXY takes a flag, a number of hops, or addresses', async (t) => {
  for (const [text, value] of [['true', true], ['false', false], ['2', 2], ['loopback, 10.0.0.0/8', ['loopback', '10.0.0.0/8']]] as const) {
    t.strictSame(loadConfig({ TRUST_PROXY: text }).trustProxy, value, text)
  }
})

const refused: readonly { readonly [name: string]: string }[] = [
  { PORT: '70000' }, { PORT: '3000.5' }, { PORT: 'http' }, { HEARTBEAT_MS: '-1' }, { HEARTBEAT_MS: '0' }, { DRAIN_TIMEOUT_MS: '2147483648' },
  { AUTH: 'basic' }, { AUTH: 'keys', AUTH_KEYS: 'alice' }, { AUTH: 'keys', AUTH_KEYS: '[]' }, { AUTH: 'keys', AUTH_KEYS_FILE: 'no/such/file' },
  { AUTH: 'jwt', AUTH_JWT_SECRET: 'too short' }, { AUTH: 'jwt', AUTH_JWKS_URL: 'file:///etc/keys.json' }, { AUTH_AUDIENCE: ' , ' }, { AUTH_FAILURES_PER_MINUTE: '-1' }, { RATE_LIMIT_PER_MINUTE: 'many' },
  { AUTH_ALLOW_ANONYMOUS: 'yes' }, { CORS_ORIGINS: 'https://a.example/path' }, { CORS_ORIGINS: 'a.example' }, { CORS_ORIGINS: 'ftp://a.example' },
  { DATABASE_URL: 'mysql://localhost/x' }, { PUBLIC_URL: 'chat.example.com' }, { OPENAI_BASE_URL: 'file:///etc' }, { LOG_LEVEL: 'loud' }, { TRUST_PROXY: 'maybe' }, { MAX_BODY_BYTES: '0' },
  { EGRESS_ALLOW: 'http://tools.internal' }, { EGRESS_ALLOW: '10.0.0.0/33' }, { EGRESS_ALLOW: 'fd00::/129' }, { EGRESS_ALLOW: 'tools.internal/8' }, { EGRESS_ALLOW: 'tools:0' }, { EGRESS_ALLOW: 'tools:65536' }, { EGRESS_ALLOW: '[10.0.0.1]:80' }, { EGRESS_ALLOW: '*' }
]

for (const env of refused) {
  const [name, value] = Object.entries(env).at(-1) ?? ['', '']
  t.test(`${name}=${value} is refused by name, with what was expected`, async (t) => {
    const problems = problemsOf(env)
    t.equal(problems.length, 1)
    t.match(problems[0], new RegExp(`^${name}: expected `))
  })
}

t.test('all problems come at once and never show the value of a variable', async (t) => {
  const secret = 'correct-horse-battery'
  const problems = problemsOf({ PORT: secret, DATABASE_URL: `mysql://root:${secret}@db`, CORS_ORIGINS: secret, AUTH: secret, LOG_LEVEL: secret, HOST: '0.0.0.0' })
  t.strictSame(problems.map((problem) => problem.split(':')[0]).sort(), ['AUTH', 'CORS_ORIGINS', 'DATABASE_URL', 'LOG_LEVEL', 'PORT'])
  t.notOk(problems.join('\n').includes(secret))
})

t.test('AUTH=none is refused where other machines can reach the service, unless that is wanted', async (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.1.4', 'chat.internal', '127.evil.example']) t.match(problemsOf({ HOST: host, PORT: 'x' }), [/^PORT: /, /^AUTH: none is refused/], host)
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]']) t.doesNotThrow(() => loadConfig({ HOST: host }), host)
  t.doesNotThrow(() => loadConfig({ HOST: '0.0.0.0', AUTH_ALLOW_ANONYMOUS: 'true' }))
})

t.test('AUTH=keys and AUTH=jwt may listen anywhere, and need to know whom to let in', async (t) => {
  const { entry } = newKey({ user: 'ada', tenant: 'default', roles: [] })
  const AUTH_KEYS = JSON.stringify([entry])
  const AUTH_JWT_SECRET = 's'.repeat(32)
  const AUTH_JWKS_URL = 'https://login.example.com/keys/'
  t.strictSame(loadConfig({ HOST: '0.0.0.0', AUTH: 'keys', AUTH_KEYS }).authKeys, [entry])
  t.match(loadConfig({ HOST: '0.0.0.0', AUTH: 'jwt', AUTH_JWT_SECRET, AUTH_AUDIENCE: 'a, b' }), { authJwtSecret: AUTH_JWT_SECRET, authAudience: ['a', 'b'] })
  t.equal(loadConfig({ AUTH: 'jwt', AUTH_JWKS_URL }).authJwksUrl, AUTH_JWKS_URL, 'unchanged: its last slash counts')
  t.match(problemsOf({ AUTH: 'keys' }), [/^AUTH_KEYS: expected /])
  t.match(problemsOf({ AUTH: 'jwt' }), [/^AUTH_JWKS_URL: expected /])
  t.match(problemsOf({ AUTH: 'jwt', AUTH_JWT_SECRET, AUTH_JWKS_URL }), [/^AUTH_JWKS_URL: .* not both$/])
  for (const set of [{ AUTH_KEYS }, { AUTH_JWT_SECRET }, { AUTH_JWKS_URL }]) {
    t.match(problemsOf(set), [/^AUTH: expected (keys|jwt), since AUTH_\w+ is set/], 'a door with a lock is not open')
    t.strictSame(problemsOf({ ...set, AUTH: 'none' }), [], 'unless that is said')
  }
})

t.test('CORS_ORIGINS=* is for AUTH=none only', async (t) => {
  t.match(problemsOf({ AUTH: 'jwt', AUTH_JWT_SECRET: 's'.repeat(32), CORS_ORIGINS: 'https://a.example,*' }), [/^CORS_ORIGINS: expected origins by name/])
  t.strictSame(loadConfig({ CORS_ORIGINS: '*' }).corsOrigins, ['*'])
})

t.test('an entry of AUTH_KEYS that is wrong is named by its place, without what it holds', async (t) => {
  const { key, entry } = newKey({ user: 'ada', tenant: 'default', roles: [] })
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ ...entry, hash: key }, /^AUTH_KEYS: entry 2: hash: expected sha256: and 64/],
    [{ ...entry, hash: entry.hash.toUpperCase() }, /entry 2: hash: expected/],
    [{ hash: entry.hash }, /entry 2: user: expected/],
    [{ ...entry, user: '' }, /entry 2: user: expected/],
    [{ ...entry, user: 'a\0b' }, /entry 2: user: expected/],
    [{ ...entry, roles: 'admin' }, /entry 2: roles: expected/],
    [{ ...entry, role: 'admin' }, /entry 2: expected no other fields/],
    [key, /entry 2: expected an object/],
    [{ ...entry, user: 'eve' }, /entry 2: expected a key that no other entry has/]
  ]
  for (const [second, problem] of cases) {
    const problems = problemsOf({ AUTH: 'keys', AUTH_KEYS: JSON.stringify([entry, second]) })
    t.equal(problems.length, 1)
    t.match(problems[0], problem)
    t.notOk(problems.join().includes(key) || problems.join().includes(entry.hash))
  }
})

t.test('AUTH_KEYS_FILE adds entries to those of AUTH_KEYS', async (t) => {
  const entries = ['ada', 'bob'].map((user) => newKey({ user, tenant: 'default', roles: ['reader'] }).entry)
  const folder = t.testdir({ 'bob.json': JSON.stringify(entries.slice(1)), 'broken.json': '[{}]' })
  const AUTH_KEYS = JSON.stringify(entries.slice(0, 1))
  t.strictSame(loadConfig({ AUTH: 'keys', AUTH_KEYS, AUTH_KEYS_FILE: `${folder}/bob.json` }).authKeys, entries)
  t.match(problemsOf({ AUTH: 'keys', AUTH_KEYS_FILE: `${folder}/broken.json` }), [/^AUTH_KEYS_FILE: entry 1: hash: /, /^AUTH_KEYS_FILE: entry 1: user: /])
  t.match(problemsOf({ AUTH: 'keys', AUTH_KEYS: JSON.stringify(entries), AUTH_KEYS_FILE: `${folder}/bob.json` }), [/^AUTH_KEYS_FILE: expected other keys/])
})

t.test('.env.example shows every variable once, with its default, its unit and whether it is a secret', async (t) => {
  const text = await readFile('.env.example', 'utf8')
  const blocks = [...text.matchAll(/((?:^# .*\n)+)^#([A-Z_]+)=(.*)$/gm)]
  t.strictSame(blocks.map(([, , name]) => name).sort(), variables.map(({ name }) => name).sort())
  for (const [, prose = '', name, value] of blocks) {
    const variable = variables.find((candidate) => candidate.name === name)
    if (variable === undefined) continue
    const literal = variable.default ?? ''
    t.ok(value === literal || (value === '' && prose.includes(literal)), `${name} shows its default`)
    t.equal(/secret/i.test(prose), variable.secret, `${name} is marked where it is a secret`)
    t.ok(variable.unit === undefined || prose.includes(`in ${variable.unit}`), `${name} shows its unit`)
    t.ok(prose.includes(variable.meaning.split(/[:;]/)[0] ?? '?'), `${name} says what it means`)
  }
})

t.test('docs/configuration.md shows every variable with its default, in order', async (t) => {
  const page = await readFile('docs/configuration.md', 'utf8')
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, name, fallback, meaning = '']) => ({ name, fallback, secret: /secret/i.test(meaning), inUnit: meaning }))
  t.strictSame(rows.map(({ name }) => name), variables.map(({ name }) => name))
  for (const [index, variable] of variables.entries()) {
    const row = rows[index]
    const shown = variable.default === undefined ? 'none' : variable.default.includes(' ') ? variable.default : `\`${variable.default}\``
    t.equal(row?.fallback, shown, variable.name)
    t.equal(row?.secret, variable.secret, variable.name)
    t.ok(row?.inUnit.includes(variable.unit === undefined ? variable.meaning : `in ${variable.unit}`), variable.name)
  }
})

function problemsOf (env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof InvalidEnvironment) return error.problems
    throw error
  }
  return []
}
