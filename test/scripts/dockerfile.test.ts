import { readFile } from 'node:fs/promises'
import t from 'tap'
// @ts-expect-error a script without types
import { createIgnore, parseDockerfile } from '../../scripts/dockerfile.mjs'

interface Stage { readonly base: string, readonly name: string, readonly instructions: ReadonlyArray<Readonly<Record<string, unknown>>> }
const parse = parseDockerfile as (text: string) => Stage[]
const ignore = createIgnore as (text: string) => (path: string) => boolean

t.test('a Dockerfile is read stage by stage, over lines that go on', async (t) => {
  const stages = parse('# A comment\nFROM node AS one\nWORKDIR /app\nENV A=1 \\\n    # between\n    B="two words"\nFROM one AS two\nCOPY --from=one --chown=node:node /app/x ./x\nCMD ["node", "x.js"]\n')
  t.strictSame(stages, [
    { base: 'node', name: 'one', instructions: [{ name: 'WORKDIR', path: '/app' }, { name: 'ENV', variables: { A: '1', B: 'two words' } }] },
    { base: 'one', name: 'two', instructions: [{ name: 'COPY', from: 'one', chown: 'node:node', sources: ['/app/x'], destination: './x' }, { name: 'CMD', command: ['node', 'x.js'] }] }
  ])
})

t.test('what the replay could not do is refused and not passed over', async (t) => {
  for (const text of ['RUN before any stage', 'FROM a AS b\nADD x y', 'FROM a AS b\nCMD node x.js', 'FROM a AS b\nRUN ["x"]', 'FROM a AS b\nHEALTHCHECK CMD curl x']) t.throws(() => parse(text), { message: /^Dockerfile: cannot read/ }, text)
})

t.test('.dockerignore leaves out what its last matching line says', async (t) => {
  const ignored = ignore('# none\n*\n!src\n!package.json\nsrc/generated\n**/.env\n')
  for (const path of ['README.md', 'test/x.ts', 'src/generated/x.ts', '.env', 'src/deep/.env', 'other/package.json']) t.ok(ignored(path), path)
  for (const path of ['src/app.ts', 'src/deep/app.ts', 'package.json', 'src/generated.ts']) t.notOk(ignored(path), path)
})

t.test('no secret and nothing built elsewhere gets into an image', async (t) => {
  const ignored = ignore(await readFile('.dockerignore', 'utf8'))
  for (const path of ['.env', '.env.example', '.git/config', 'data/parley.db', 'node_modules/x/index.js', 'dist/src/server.js', 'src/database/generated/sqlite/client.ts', 'test/x.ts', 'agents/.env']) t.ok(ignored(path), path)
  for (const path of ['package.json', 'package-lock.json', '.npmrc', 'src/server.ts', 'agents/assistant.ts', 'prisma/migrations/sqlite/20260101000000_init/migration.sql']) t.notOk(ignored(path), path)
})

t.test('the image is built in stages, runs as node with the server as process 1, and says how it is', async (t) => {
  const stages = parse(await readFile('Dockerfile', 'utf8'))
  const last = stages.at(-1)
  const find = (name: string) => last?.instructions.find((instruction) => instruction['name'] === name)
  t.strictSame(stages.map(({ name }) => name), ['deps', 'build', 'production-deps', 'production'])
  for (const { base, name } of stages) t.ok(base === 'deps' || /^node:\d+-slim$/.test(base), name)
  t.match(find('USER'), { user: 'node' })
  t.match(find('STOPSIGNAL'), { signal: 'SIGTERM' })
  t.match(find('CMD'), { command: ['node', 'dist/src/server.js'] })
  t.match(find('HEALTHCHECK'), { command: ['node', '-e', /\/health/] })
  t.match(find('VOLUME'), { path: '/data' })
  t.match(find('ENV'), { variables: { HOST: '0.0.0.0', DATA_DIR: '/data', NODE_ENV: 'production' } })
})
