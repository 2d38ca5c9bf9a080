import { pino } from 'pino'
import { loadRegistry } from './agents/load-registry.ts'
import { buildApp } from './app.ts'
import { loadConfig, type Config } from './config.ts'
import { openDatabase } from './database/database.ts'
import { loadEnvFile } from './env-file.ts'
import { loggerOptions, openLogOutput } from './logging.ts'

try {
  loadEnvFile(process.cwd())
  await serve(process.env)
} catch (error) {
  // Every reason not to start is written for the operator; a stack would hide it.
  process.stderr.write(`parley cannot start: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}

/** Starts the service, and ends it in order on SIGTERM or SIGINT: no new runs, the running ones finish, then all closes. */
async function serve (env: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig(env)
  const log = pino(loggerOptions(config), openLogOutput())
  const registry = await loadRegistry({ config, cwd: process.cwd(), env, log })
  const database = await openDatabase({ url: config.databaseUrl, log })
  const app = await buildApp({ config, agents: registry, agentKit: registry.agentKit, models: registry.models, integrations: registry.integrations, permissions: registry.permissions, database, log })
  for (const warning of registry.warnings) log.warn(warning)
  let asked = false
  // Code of agents and tools runs here too: what one of them forgot to wait for must not end everybody's conversations.
  process.on('unhandledRejection', (reason) => { log.error({ err: reason }, 'a promise was rejected that nobody waited for') })
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the process ends, and the next one closes what it left open')
    process.exit(1)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => { onSignal(signal) })
  await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => { throw listenFailure(error, config) })
  const { defaultModel } = registry.models
  log.info({ agents: registry.all().length, defaultModel, database: database.provider }, 'ready')
  if (defaultModel.startsWith('offline')) log.warn('no model key is set: answers come from the offline model, a set of rules. Set OPENAI_API_KEY for a real one')

  function onSignal (signal: string): void {
    if (asked) process.exit(1) // asked twice, by whichever signal: at once
    asked = true
    log.info({ signal }, 'shutting down: running answers may finish')
    shutDown().catch((error: unknown) => {
      log.error({ err: error }, 'the shutdown failed')
      process.exit(1)
    })
  }

  async function shutDown (): Promise<void> {
    await app.drainRuns(config.drainTimeoutMs)
    await app.close()
    process.exit(0)
  }
}

function listenFailure (error: unknown, { host, port }: Config): unknown {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error
  return new Error(`${host}:${port} is in use. End the process that listens there, or set PORT to another port (0 takes a free one).`, { cause: error })
}
