// Prisma's schema engine, which compares schemas and writes migrations, as WebAssembly: it needs no download.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'

export const prismaFolder = fileURLToPath(new URL('../prisma/', import.meta.url))
const noFilters = { externalTables: [], externalEnums: [] }
let loaded

/** The models of prisma/schema with the datasource of a provider, as the engine takes them. */
export async function readSchema (provider) {
  const folder = join(prismaFolder, 'schema')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.prisma')).sort()
  const models = names.map(async (name) => ({ path: name, content: await readFile(join(folder, name), 'utf8') }))
  return { files: [{ path: 'provider.prisma', content: `datasource db {\n  provider = "${provider}"\n}\n` }, ...await Promise.all(models)] }
}

export async function readMigrations (provider) {
  const baseDir = join(prismaFolder, 'migrations', provider)
  const entries = await readdir(baseDir, { withFileTypes: true })
  const names = entries.flatMap((entry) => entry.isDirectory() ? [entry.name] : []).sort()
  const migrationDirectories = names.map(async (path) => {
    const value = await readFile(join(baseDir, path, 'migration.sql'), 'utf8')
    return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok', value } } }
  })
  const lockfile = { path: 'migration_lock.toml', content: await readFile(join(baseDir, 'migration_lock.toml'), 'utf8') }
  return { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories: await Promise.all(migrationDirectories) }
}

/** An engine on the database of a driver adapter factory; `free` it when done. */
export async function createSchemaEngine (adapterFactory, schema) {
  await load()
  const datamodels = schema.files.map(({ path, content }) => [path, content])
  return glue.SchemaEngine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(patched(adapterFactory)))
}

/** The SQL that leads from one target to the other: '-- This is an empty migration.' when they agree. */
export async function diff (engine, from, to) {
  const { stdout } = await engine.diff({ from, to, script: true, exitCode: null, filters: noFilters })
  return stdout
}

/** The migrations the engine finds missing and applies. */
export async function applyMigrations (engine, migrationsList) {
  const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: noFilters })
  return appliedMigrationNames
}

function patched (factory) {
  const patch = factory.provider === 'postgres' ? readCatalogue : playScripts
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => patch(await factory.connect()),
    connectToShadowDb: async () => patch(await factory.connectToShadowDb())
  }
}

// PostgreSQL's catalogue has columns of its internal type "char" (18), which the adapter refuses; they read as text (25).
function readCatalogue (adapter) {
  const pool = adapter.underlyingDriver()
  const query = pool.query.bind(pool)
  pool.query = async (...args) => {
    const result = await query(...args)
    for (const field of result.fields ?? []) if (field.dataTypeID === 18) field.dataTypeID = 25
    return result
  }
  return adapter
}

// The engine plays a whole migration as one statement, of which the SQLite driver would run the first only.
function playScripts (adapter) {
  const executeRaw = adapter.executeRaw.bind(adapter)
  adapter.executeRaw = async (query) => {
    if (query.args.length > 0) return executeRaw(query)
    await adapter.executeScript(query.sql)
    return 0
  }
  return adapter
}

function load () {
  loaded ??= instantiate()
  return loaded
}

// Not the package's entry: it imports the .wasm file as a module, which Node 20 does behind a flag only.
async function instantiate () {
  const folder = dirname(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm')))
  const bytes = await readFile(join(folder, 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}
