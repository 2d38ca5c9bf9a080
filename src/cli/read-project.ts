import { ConfigurationFaults, faultLine } from '../agents/faults.ts'
import { loadRegistry, type LoadedRegistry, type RegistryOptions } from '../agents/load-registry.ts'
import { InvalidEnvironment, loadConfig } from '../config.ts'
import type { Environment } from './terminal.ts'

export type Project =
  | { readonly ok: true, readonly registry: LoadedRegistry }
  | { readonly ok: false, readonly problems: readonly string[] }

/** The registry as the server would load it. Mistakes of the environment and of the configuration come together. */
export async function readProject ({ env, cwd }: Environment): Promise<Project> {
  const problems: string[] = []
  const config = readConfig(env, problems)
  try {
    const registry = await loadRegistry({ config, cwd, env })
    return problems.length === 0 ? { ok: true, registry } : { ok: false, problems }
  } catch (error) {
    if (!(error instanceof ConfigurationFaults)) throw error
    return { ok: false, problems: [...problems, ...error.faults.map(faultLine)] }
  }
}

/** Where the environment is wrong, the rest is checked on what it says about the configuration. */
function readConfig (env: Environment['env'], problems: string[]): RegistryOptions['config'] {
  try {
    return loadConfig(env)
  } catch (error) {
    if (!(error instanceof InvalidEnvironment)) throw error
    problems.push(...error.problems.map((problem) => `environment: ${problem}`))
    const { PARLEY_CONFIG, DEFAULT_AGENT, DEFAULT_MODEL } = env
    return loadConfig({ PARLEY_CONFIG, DEFAULT_AGENT, DEFAULT_MODEL })
  }
}
