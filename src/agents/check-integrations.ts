import type { Egress } from '../tools/egress.ts'
import { localIntegrationSchema, remoteIntegrationSchema, variablesOf, type Integration, type RemoteIntegration } from '../tools/integration.ts'
import type { Report } from './check-config.ts'
import { issueReasons } from './faults.ts'

export interface IntegrationContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly egress: Pick<Egress, 'mayReach'>
  readonly report: Report
  /** Takes what the operator should know and what does not stop the start. */
  readonly warn: (entry: string, warning: string) => void
}

/** The usable integrations; the others are reported. Nothing is connected to. */
export function checkIntegrations (integrations: Readonly<Record<string, unknown>>, { env, egress, report, warn }: IntegrationContext): Record<string, Integration> {
  const usable: Record<string, Integration> = {}
  for (const [name, value] of Object.entries(integrations)) {
    const entry = `integrations.${name}`
    const { integration, problems } = checkIntegration(value)
    const all = [...nameProblems(name), ...problems, ...integration === undefined ? [] : variableProblems(integration, env)]
    for (const problem of all) report(entry, problem)
    if (integration === undefined || all.length > 0) continue
    if ('url' in integration && !egress.mayReach(new URL(integration.url))) warn(entry, 'its URL is of a private address, which EGRESS_ALLOW does not name: its tools will not be available')
    usable[name] = integration
  }
  return usable
}

function checkIntegration (value: unknown): { integration?: Integration, problems: readonly string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problems: ['expected an integration: its type, and a url or a command'] }
  if (('url' in value) === ('command' in value)) return { problems: ['expected either "url" or "command"'] }
  const schema = 'command' in value ? localIntegrationSchema : remoteIntegrationSchema
  const parsed = schema.safeParse(value)
  if (!parsed.success) return { problems: issueReasons(parsed.error.issues, Object.keys(schema.shape)) }
  return { integration: parsed.data, problems: 'url' in parsed.data ? remoteProblems(parsed.data) : [] }
}

/** It begins the names of its tools, which providers take up to 64 characters of. */
function nameProblems (name: string): string[] {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name) ? [] : ['expected a name of letters, digits, "_" or "-", at most 32']
}

function remoteProblems ({ url, headers, tokenEnv, userToken }: RemoteIntegration): string[] {
  const { username, password } = new URL(url)
  return [
    ...username === '' && password === '' ? [] : ['url: expected no credentials in it; tokenEnv names the variable of a token'],
    ...tokenEnv === undefined || userToken === undefined ? [] : ['expected either "tokenEnv" or "userToken": callers without a token would be given that of the service'],
    ...areHeaders(headers) ? [] : ['headers: expected names and values that HTTP allows']
  ]
}

function variableProblems (integration: Integration, env: IntegrationContext['env']): string[] {
  return variablesOf(integration).filter((variable) => (env[variable] ?? '').trim() === '').map((variable) => `needs the environment variable ${variable}`)
}

function areHeaders (headers: Readonly<Record<string, string>>): boolean {
  try {
    return new Headers(headers) !== undefined
  } catch {
    // What it says repeats the value, which may be a secret.
    return false
  }
}
