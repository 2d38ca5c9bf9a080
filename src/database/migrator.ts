import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../errors.ts'
import type { Provider } from './client.ts'

export interface MigrationSql {
  /** Any number of statements. */
  script: (text: string) => Promise<void>
  /** One statement; `?` stands for an argument. */
  rows: (text: string, args: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>
}

export interface MigrationHost {
  readonly provider: Provider
  /** Runs `work` in one transaction, while no other process does; rolled back when it throws. */
  exclusively: <T>(work: (sql: MigrationSql) => Promise<T>) => Promise<T>
}

export interface Migration { readonly name: string, readonly script: string, readonly checksum: string }

/**
 * Brings the database up to date and returns the names of what it applied, each in its own transaction. The records are
 * Prisma's (`_prisma_migrations`), so `prisma migrate deploy` and this agree. Throws configuration_error when a migration
 * was edited after it was applied or one is recorded as failed; nothing is applied then.
 */
export async function migrate (host: MigrationHost, migrations: readonly Migration[]): Promise<readonly string[]> {
  const applied: string[] = []
  for (;;) {
    const name = await host.exclusively((sql) => applyNext(host.provider, sql, migrations))
    if (name === undefined) return applied
    applied.push(name)
  }
}

export async function readMigrations (provider: Provider): Promise<readonly Migration[]> {
  const folder = join(packageRoot(), 'prisma/migrations', provider)
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.flatMap((entry) => entry.isDirectory() ? [entry.name] : []).sort()
  return Promise.all(names.map(async (name) => {
    const script = await readFile(join(folder, name, 'migration.sql'), 'utf8')
    return { name, script, checksum: createHash('sha256').update(script).digest('hex') }
  }))
}

async function applyNext (provider: Provider, sql: MigrationSql, migrations: readonly Migration[]): Promise<string | undefined> {
  await sql.script(recordTable[provider])
  const records = await sql.rows('SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL', [])
  for (const record of records) check(record, migrations)
  const known = new Set(records.map(({ migration_name: name }) => name))
  const next = migrations.find(({ name }) => !known.has(name))
  if (next === undefined) return undefined
  const startedAt = new Date()
  await sql.script(next.script)
  const times = [new Date(), startedAt].map((time) => provider === 'sqlite' ? time.getTime() : time)
  await sql.rows('INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) VALUES (?, ?, ?, ?, ?, 1)',
    [randomUUID(), next.checksum, next.name, ...times])
  return next.name
}

function check (record: Record<string, unknown>, migrations: readonly Migration[]): void {
  const name = String(record.migration_name)
  if (record.finished_at === null) {
    throw new AppError('configuration_error', `Migration ${name} is recorded as failed. Repair the database and mark it with "prisma migrate resolve".`)
  }
  const migration = migrations.find((candidate) => candidate.name === name)
  // One that is unknown here was applied by a newer version: migrations only add, so an older one goes on working.
  if (migration !== undefined && migration.checksum !== record.checksum) {
    throw new AppError('configuration_error', `Migration ${name} was changed after it was applied to this database. Restore its file.`)
  }
}

// From the sources and from dist/ alike.
function packageRoot (): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

const recordTable: Readonly<Record<Provider, string>> = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
  )`,
  postgresql: `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
  )`
}
