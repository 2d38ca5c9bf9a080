import type { ToolProvider } from '../agents/agent.ts'
import { createPermissions, type Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { shuttingDown } from '../errors.ts'
import type { Egress } from './egress.ts'
import { isForRolesOf, type Integration } from './integration.ts'
import { silent, type IntegrationLog } from './integration-log.ts'
import { openMcpClient, type McpClient, type McpClientOptions } from './mcp/mcp-client.ts'
import { createMcpProvider } from './mcp/mcp-provider.ts'

export interface IntegrationView { readonly name: string, readonly label: string }

/** The integrations of a configuration. Nothing connects before a run asks for tools. */
export interface Integrations {
  /** Gives a run the tools of one, called `<name>_<tool>`. Throws ToolsUnavailable where they are not to be had. */
  readonly providers: ReadonlyMap<string, ToolProvider>
  /** Those of the names that the caller may use. */
  list: (names: readonly string[], principal: Principal) => readonly IntegrationView[]
  /** Ends every connection. Resolves when no process and no session is left. */
  close: () => Promise<void>
}

export interface IntegrationsOptions {
  readonly integrations: Readonly<Record<string, Integration>>
  /** Where tokens and passed variables are found. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Closed with the integrations. */
  readonly egress: Egress
  /** Who may use them; everybody when absent. */
  readonly permissions?: Pick<Permissions, 'may'>
  readonly log?: IntegrationLog | undefined
  /** Milliseconds; only differences matter. */
  readonly now?: () => number
}

export const noIntegrations: Integrations = { providers: new Map(), list: () => [], close: async () => {} }

export function createIntegrations ({ integrations, env, egress, permissions = createPermissions(), log = silent, now = () => performance.now() }: IntegrationsOptions): Integrations {
  const entries = new Map(Object.entries(integrations))
  const clients = new Set<McpClient>()
  let closed = false

  return {
    providers: new Map(Array.from(entries, ([name, integration]) => [name, createMcpProvider({ name, integration, env, fetch: egress.fetch, open, now, log, mayUse: (principal) => mayUse(name, integration, principal) })])),
    list: (names, principal) => names.flatMap((name) => {
      const integration = entries.get(name)
      return integration === undefined || !mayUse(name, integration, principal) ? [] : [{ name, label: integration.title ?? name }]
    }),
    close: async () => {
      closed = true
      await Promise.all(Array.from(clients, (client) => client.close()))
      await egress.close()
    }
  }

  /** Where the caller may not, it brings no tools and is not spoken of. */
  function mayUse (name: string, integration: Integration, principal: Principal): boolean {
    return isForRolesOf(integration, principal) && permissions.may(principal, 'use_integration', { kind: 'integration', name })
  }

  /** Whoever opens one, and forgets it, leaves it to be closed here. */
  function open (options: McpClientOptions): McpClient {
    if (closed) throw shuttingDown()
    const client = openMcpClient(options)
    clients.add(client)
    void client.ended.then(() => clients.delete(client))
    return client
  }
}
