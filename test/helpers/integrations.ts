import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { loadRegistry, type LoadedRegistry } from '../../src/agents/load-registry.ts'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import type { Model } from '../../src/models/model.ts'
import { testDatabaseUrl } from './databases.ts'

export interface ConfiguredApp { readonly app: FastifyInstance, readonly url: string, readonly registry: LoadedRegistry }

export interface ConfiguredAppOptions {
  /** The default export of parley.config.mjs. */
  readonly config: string
  /** The offline one when absent. */
  readonly model?: Model
  readonly env?: Readonly<Record<string, string>>
  readonly log?: FastifyBaseLogger
  /** One of its own when absent. */
  readonly databaseUrl?: string
}

/** The service with a configuration file, as it is when it was started. */
export async function startConfigured (t: Test, { config: source, model, env = {}, log, databaseUrl }: ConfiguredAppOptions): Promise<ConfiguredApp> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-configured-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'parley.config.mjs'), `export default ${source}\n`)
  const config = loadConfig({ DATA_DIR: `${folder}/data`, OFFLINE_WORD_DELAY_MS: '0', ...env })
  const createModels = () => ({ get: () => model as Model, defaultModel: model?.id ?? '', problem: () => undefined }) // asked only where there is one
  const registry = await loadRegistry({ config, cwd: folder, env, log, ...(model === undefined ? {} : { createModels }) })
  const { models, integrations, permissions, agentKit } = registry
  const app = await buildApp({ config, agents: registry, agentKit, models, integrations, permissions, database: await openDatabase({ url: databaseUrl ?? await testDatabaseUrl(t) }), ...(log === undefined ? {} : { log }) })
  t.teardown(() => app.close())
  return { app, registry, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

/** The processes that this one has started and that still run, by their command lines. */
export async function children (): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = /^\d+ \(.*\) \S (\d+) /s.exec(status)?.[1]
    if (Number(parent) === process.pid) found.set(Number(name), (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim())
  }
  return found
}
