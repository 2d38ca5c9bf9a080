// Generates the Prisma clients of both databases from prisma/schema: node scripts/generate.mjs [--if-needed]
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const providers = ['sqlite', 'postgresql']
const root = fileURLToPath(new URL('..', import.meta.url))
const generated = join(root, 'src/database/generated')
const stamp = join(generated, 'schema.sha256')
const { resolve } = createRequire(import.meta.url)

try {
  const models = await readModels()
  const hash = await fingerprint(models)
  if (!process.argv.includes('--if-needed') || await readStamp() !== hash) await generate(models, hash)
} catch (error) {
  console.error(`Generating the Prisma clients failed: ${error.stderr || error.message}`)
  process.exitCode = 1
}

async function generate (models, hash) {
  await Promise.all(providers.map((provider) => generateFor(provider, models)))
  await writeFile(stamp, hash)
}

async function generateFor (provider, models) {
  const folder = join(generated, '.schema', provider)
  await mkdir(folder, { recursive: true })
  const files = [...models, { name: 'provider.prisma', text: header(provider) }]
  await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)))
  const cli = join(resolve('prisma/package.json'), '../build/index.js')
  await promisify(execFile)(process.execPath, [cli, 'generate', '--schema', folder], { cwd: root, env: offline() })
}

function header (provider) {
  const output = JSON.stringify(join(generated, provider))
  return `datasource db {
  provider = "${provider}"
}

generator client {
  provider            = "prisma-client"
  output              = ${output}
  runtime             = "nodejs"
  moduleFormat        = "esm"
  importFileExtension = "ts"
}
`
}

// The CLI wants to download an engine that generating does not use; any existing file keeps it from the network.
function offline () {
  return { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' }
}

async function readModels () {
  const folder = join(root, 'prisma/schema')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.prisma')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })))
}

/** Of all that shapes the output, by content: a checkout or a copy gives every file a new time. */
async function fingerprint (models) {
  const { version } = JSON.parse(await readFile(resolve('prisma/package.json'), 'utf8'))
  const hash = createHash('sha256').update(version).update(await readFile(fileURLToPath(import.meta.url)))
  for (const { name, text } of models) hash.update(`\0${name}\0${text}`)
  return hash.digest('hex')
}

async function readStamp () {
  try {
    return await readFile(stamp, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
