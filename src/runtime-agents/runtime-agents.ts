import type { AgentKit } from '../agents/agent-kit.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Permissions } from '../auth/permissions.ts'
import { AppError } from '../errors.ts'
import { createKnownAgents, type KnownAgent, type KnownAgents } from './known-agents.ts'
import { withRuntimeAgents } from './with-runtime-agents.ts'
import { createRuntimeAgentService, type RuntimeAgentService } from './runtime-agent-service.ts'
import type { RuntimeAgent, RuntimeAgentStore } from './runtime-agent-store.ts'

export interface RuntimeAgentsOptions {
  /** There are no runtime agents when absent. */
  readonly kit: AgentKit | undefined
  /** The agents of the configuration. */
  readonly configured: AgentRegistry
  readonly permissions: Pick<Permissions, 'may'>
  readonly store: RuntimeAgentStore
  readonly newId: () => string
  readonly log: { warn: (fields: object, message: string) => void }
  /** How often it is looked at what other processes have changed. */
  readonly refreshEveryMs?: number
}

export interface RuntimeAgents {
  /** All agents that can be talked to. */
  readonly registry: AgentRegistry
  readonly service: RuntimeAgentService
  /** What runtime agents are made of. */
  readonly bases: readonly Agent[]
  /** Resolves when nothing is read any more. */
  readonly close: () => Promise<void>
}

// Of the rest the list of runtime agents tells.
const maxLogged = 20

/** Reads the runtime agents there are, and from then on what becomes of them. Those that cannot be made are logged. */
export async function openRuntimeAgents ({ kit, configured, permissions, store, newId, log, refreshEveryMs = 1_000 }: RuntimeAgentsOptions): Promise<RuntimeAgents> {
  if (kit === undefined) return { registry: configured, service: switchedOff, bases: [], close: async () => {} }
  const known = createKnownAgents({ store, know: (row) => know(row, kit, configured) })
  await known.upToDate(() => {})
  logProblems(known, log)
  const watch = keepUpToDate(known, { refreshEveryMs, log })
  return {
    registry: withRuntimeAgents(configured, known),
    service: createRuntimeAgentService({ kit, known, store, permissions, configured, newId }),
    bases: kit.bases,
    close: watch.close
  }
}

function know (row: RuntimeAgent, kit: AgentKit, configured: AgentRegistry): KnownAgent {
  const holder = configured.find(row.id)
  if (holder !== undefined) return { row, agent: undefined, problem: `its id is a name of the agent "${holder.key}"` }
  const { agent, issues = [] } = kit.make(row, row)
  return { row, agent, problem: agent === undefined ? issues.map(({ path, message }) => `${path}: ${message}`).join('; ') : undefined }
}

function logProblems (known: KnownAgents, log: RuntimeAgentsOptions['log']): void {
  const broken = Array.from(known.all()).filter(({ agent }) => agent === undefined)
  if (broken.length === 0) return
  const agents = broken.slice(0, maxLogged).map(({ row: { id, tenantId }, problem }) => ({ id, tenantId, problem }))
  log.warn({ count: broken.length, agents }, 'runtime agents cannot be made of what the configuration offers now: nobody can talk to them')
}

function keepUpToDate (known: KnownAgents, { refreshEveryMs, log }: Required<Pick<RuntimeAgentsOptions, 'refreshEveryMs' | 'log'>>): { close: () => Promise<void> } {
  let reading: Promise<void> | undefined
  let failed = false
  const timer = setInterval(() => { reading ??= read() }, refreshEveryMs)
  timer.unref()
  return {
    close: async () => {
      clearInterval(timer)
      await reading
    }
  }

  async function read (): Promise<void> {
    try {
      await known.upToDate(() => {})
      failed = false
    } catch (error) {
      // Once for each time that the database is away.
      if (!failed) log.warn({ err: error }, 'what other processes changed about runtime agents could not be read')
      failed = true
    } finally {
      reading = undefined
    }
  }
}

const off = async (): Promise<never> => {
  throw new AppError('not_found', 'There are no runtime agents here: the configuration says nothing under "runtimeAgents".')
}

const switchedOff: RuntimeAgentService = { list: off, get: off, create: off, update: off, remove: off }
