// Writes the migration that leads from prisma/migrations to prisma/schema, for both databases:
//   node scripts/author-migration.mjs <name>
// PostgreSQL is asked on MIGRATION_POSTGRES_URL (default postgresql://postgres@127.0.0.1:5432/postgres); the old
// migrations are played into a scratch database there, which is dropped again.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaLibSql } from '@prisma/adapter-libsql'
import { PrismaPg } from '@prisma/adapter-pg'
import { createSchemaEngine, diff, prismaFolder, readMigrations, readSchema } from './schema-engine.mjs'

const name = process.argv[2]
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  console.error('usage: node scripts/author-migration.mjs <name>   (a-z, 0-9 and _)')
  process.exit(2)
}

const postgresUrl = process.env.MIGRATION_POSTGRES_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres'
const adapters = {
  sqlite: () => new PrismaLibSql({ url: ':memory:' }),
  postgresql: () => new PrismaPg(postgresUrl)
}
const folder = `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`

for (const provider of Object.keys(adapters)) await author(provider)

async function author (provider) {
  const base = join(prismaFolder, 'migrations', provider)
  await mkdir(base, { recursive: true })
  await writeFile(join(base, 'migration_lock.toml'), `# Prisma reads this file; keep it under version control.\nprovider = "${provider}"\n`)
  const schema = await readSchema(provider)
  const engine = await createSchemaEngine(adapters[provider](), schema)
  const sql = await diff(engine, { tag: 'migrations', ...await readMigrations(provider) }, { tag: 'schemaDatamodel', ...schema })
  engine.free()
  if (sql.includes('This is an empty migration')) return console.log(`${provider}: nothing to do`)
  await mkdir(join(base, folder))
  await writeFile(join(base, folder, 'migration.sql'), sql)
  console.log(`${provider}: prisma/migrations/${provider}/${folder}/migration.sql`)
}
