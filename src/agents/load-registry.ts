import type { z } from 'zod'
import { createPermissions, type Permissions } from '../auth/permissions.ts'
import type { Config } from '../config.ts'
import { createModelRegistry } from '../models/providers.ts'
import { createEgress } from '../tools/egress.ts'
import type { IntegrationLog } from '../tools/integration-log.ts'
import { createIntegrations, type Integrations } from '../tools/integrations.ts'
import type { AgentKit } from './agent-kit.ts'
import type { Agent } from './agent.ts'
import { builtInConfig } from './built-in.ts'
import { checkAgents, checkModels, checkProviders, checkTools, defaultAgentProblem, type CheckedAgents, type Report } from './check-config.ts'
import { checkIntegrations, type IntegrationContext } from './check-integrations.ts'
import { checkPermissions } from './check-permissions.ts'
import { checkRuntimeAgents } from './check-runtime-agents.ts'
import { collectEntries } from './collect-entries.ts'
import { findConfig, loadConfigFile, shownPath } from './config-file.ts'
import { configSchema } from './config.ts'
import { ConfigurationFaults, type Fault } from './faults.ts'
import { createFileLoader, type LoadFile } from './load-file.ts'
import { createModelResolver } from './model-resolver.ts'
import type { AgentRegistry, ModelRegistry } from './registry.ts'

export interface RegistryOptions {
  readonly config: Pick<Config, 'parleyConfig' | 'defaultAgent' | 'defaultModel' | 'offlineWordDelayMs' | 'egressAllow'>
  /** Where `parley.config.*` is looked for. */
  readonly cwd: string
  /** Where providers find their keys and integrations their tokens. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Other models than the configured ones, for tests and for embedding. */
  readonly createModels?: typeof createModelRegistry
  readonly log?: RegistryLog | undefined
}

type RegistryLog = IntegrationLog & NonNullable<Parameters<typeof createPermissions>[0]>['log']

export interface LoadedRegistry extends AgentRegistry {
  readonly models: ModelRegistry
  readonly integrations: Integrations
  readonly permissions: Permissions
  /** What runtime agents are made of; absent where there are none. */
  readonly agentKit: AgentKit | undefined
  /** The configuration file; absent when the built-in agent is served. */
  readonly file: string | undefined
  /** What the operator should know and what does not stop the start. */
  readonly warnings: readonly string[]
}

interface Source {
  readonly value: z.output<typeof configSchema>
  /** Absent for the built-in configuration. */
  readonly path: string | undefined
  readonly shown: string
  readonly warnings: readonly string[]
  readonly faults: readonly Fault[]
}

/** Loads and checks everything a deployment serves. Throws ConfigurationFaults with all mistakes at once. */
export async function loadRegistry ({ config, cwd, env, log, createModels = createModelRegistry }: RegistryOptions): Promise<LoadedRegistry> {
  const load = createFileLoader()
  const { value, path, shown, warnings: ofSource, faults: ofFile } = await readSource(config.parleyConfig, cwd, load)
  const faults: Fault[] = [...ofFile]
  const warnings = [...ofSource]
  const report: Report = (entry, reason) => faults.push({ file: shown, entry, reason })
  const reportVariable: Report = (entry, reason) => faults.push({ file: 'environment', entry, reason })

  const providers = checkProviders(value.providers, report)
  const reported = Object.keys(value.providers).filter((name) => providers[name] === undefined)
  const facts = checkModels(value.models, Object.keys(value.providers), report)
  const models = createModels({ providers, facts, env, log, defaultModel: config.defaultModel ?? value.defaultModel, wordDelayMs: config.offlineWordDelayMs })
  const modelProblem = reported.some((name) => models.defaultModel.startsWith(`${name}:`)) ? undefined : models.problem(models.defaultModel)
  if (modelProblem !== undefined && config.defaultModel !== undefined) reportVariable('DEFAULT_MODEL', modelProblem)
  else if (modelProblem !== undefined) report('defaultModel', modelProblem)

  const tools = checkTools(value.tools, report)
  const permissions = createPermissions({ lists: checkPermissions(value.permissions, report), log })
  const integrations = prepareIntegrations(value.integrations, { config, env, log, permissions, report, warn: (entry, warning) => warnings.push(`${shown}: ${entry}: ${warning}`) })
  const offered = new Map(Object.keys(value.integrations).map((name) => [name, integrations.providers.get(name)]))
  const { entries, faults: unread } = await collectEntries(value.agents, { configPath: path ?? shown, cwd, load })
  const context = { tools, integrations: offered, factsOf: (id: string) => facts.get(id), resolveModel: createModelResolver(models, { providers: reported }) }
  const checked = checkAgents(entries, context)
  faults.push(...unread, ...checked.faults)
  if (faults.length === 0 && checked.registered.length === 0) report('agents', 'no agents: expected at least one that is not abstract')
  const agentKit = checkRuntimeAgents(value.runtimeAgents, { checked, context, unread: unread.length > 0, report, warn: (entry, warning) => warnings.push(`${shown}: ${entry}: ${warning}`) })
  // In a file that could not be read the default agent may well be.
  if (unread.length === 0) checkDefaultAgent(checked, { value, config, report, reportVariable })
  if (faults.length > 0) throw new ConfigurationFaults(faults)
  return { ...createRegistry(checked, config.defaultAgent ?? value.defaultAgent), models, integrations, permissions, agentKit, file: path, warnings: [...warnings, ...checked.warnings] }
}

async function readSource (named: string | undefined, cwd: string, load: LoadFile): Promise<Source> {
  const found = findConfig(cwd, named)
  if (found === undefined) {
    return { value: configSchema.parse(builtInConfig), path: undefined, shown: 'built-in configuration', warnings: ['No parley.config.* in the working directory: serving one built-in assistant.'], faults: [] }
  }
  const shown = shownPath(found.path, cwd)
  const read = await loadConfigFile(found.path, { load, shown })
  if (!read.ok) throw new ConfigurationFaults(read.faults)
  return { value: read.value, faults: read.faults, path: found.path, shown, warnings: found.ignored.map((other) => `${shownPath(other, cwd)} is not read, because ${shown} is there.`) }
}

function prepareIntegrations (listed: Source['value']['integrations'], { config, env, log, permissions, report, warn }: Pick<RegistryOptions, 'config' | 'env' | 'log'> & { permissions: Permissions, report: Report, warn: IntegrationContext['warn'] }): Integrations {
  const egress = createEgress({ allow: config.egressAllow })
  return createIntegrations({ integrations: checkIntegrations(listed, { env, egress, report, warn }), env, egress, permissions, log })
}

function checkDefaultAgent (checked: CheckedAgents, { value, config, report, reportVariable }: { value: Source['value'], config: RegistryOptions['config'], report: Report, reportVariable: Report }): void {
  const ofFile = value.defaultAgent === undefined ? undefined : defaultAgentProblem(value.defaultAgent, checked)
  const ofVariable = config.defaultAgent === undefined ? undefined : defaultAgentProblem(config.defaultAgent, checked)
  if (ofFile !== undefined) report('defaultAgent', ofFile)
  if (ofVariable !== undefined) reportVariable('DEFAULT_AGENT', ofVariable)
}

function createRegistry ({ registered, names }: CheckedAgents, wanted: string | undefined): AgentRegistry {
  const visible: readonly Agent[] = Object.freeze(registered.filter((agent) => !agent.hidden))
  const byDefault = wanted === undefined ? (visible.length === 1 ? visible[0] : undefined) : names.get(wanted)
  return {
    find: (idOrKey) => names.get(idOrKey),
    list: () => visible,
    all: () => registered,
    defaultAgent: () => byDefault
  }
}
