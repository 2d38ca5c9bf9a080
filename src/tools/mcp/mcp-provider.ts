import { createHash } from 'node:crypto'
import type { ToolProvider } from '../../agents/agent.ts'
import type { Principal } from '../../auth/principal.ts'
import { untilAborted } from '../../streams/abort.ts'
import type { Integration, TokenRequest } from '../integration.ts'
import { ToolsUnavailable } from '../tools-unavailable.ts'
import { shortCause } from './failures.ts'
import type { McpClient, McpClientOptions } from './mcp-client.ts'
import { createSession } from './session.ts'
import { createSessions } from './sessions.ts'

export interface McpProviderOptions extends Pick<McpClientOptions, 'name' | 'integration' | 'env' | 'fetch' | 'log'> {
  readonly open: (options: McpClientOptions) => McpClient
  readonly mayUse: (principal: Principal) => boolean
  /** Milliseconds; only differences matter. */
  readonly now: () => number
}

/**
 * The tools of one server. Callers share a connection to it, except where they have tokens of their own: then each
 * caller, and each token of theirs, has a connection and a list of tools that nobody else is given.
 */
export function createMcpProvider ({ open, now, mayUse, ...options }: McpProviderOptions): ToolProvider {
  const { name, integration, env, log } = options
  const sessions = createSessions({ now })

  return async ({ principal, metadata, signal }) => {
    if (!mayUse(principal)) return []
    const own = await ownToken(name, integration, { principal, metadata }, signal)
    const session = sessions.get(own === undefined ? '' : keyOf(principal, own), () => {
      const token = own ?? ('tokenEnv' in integration && integration.tokenEnv !== undefined ? env[integration.tokenEnv] : undefined)
      const secrets = secretsOf(integration, env, token)
      return createSession({ name, integration, now, secrets, log, open: (onToolsChanged) => open({ ...options, token, secrets, onToolsChanged }) })
    })
    return await session.tools(signal)
  }
}

/** The caller's own token, where the integration wants one. */
async function ownToken (name: string, integration: Integration, request: TokenRequest, signal: AbortSignal): Promise<string | undefined> {
  const { title = name, timeoutMs } = integration
  if (!('userToken' in integration) || integration.userToken === undefined) return undefined
  const { userToken } = integration
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const asked = typeof userToken === 'string' ? request.metadata[userToken] : Promise.resolve().then(() => userToken(request))
  const token = await untilAborted(Promise.resolve(asked), inTime).catch((error: unknown) => {
    throw new ToolsUnavailable(name, `"${title}" is not available right now.`, { cause: shortCause(error, []) })
  })
  // What a header cannot hold is no token.
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) throw new ToolsUnavailable(name, `"${title}" needs a token of yours.`)
  return token
}

function keyOf ({ tenantId, userId }: Principal, token: string): string {
  return JSON.stringify([tenantId, userId, createHash('sha256').update(token).digest('base64')])
}

function secretsOf (integration: Integration, env: McpClientOptions['env'], token: string | undefined): string[] {
  const passed = 'command' in integration ? integration.passEnv.map((variable) => env[variable]) : Object.values(integration.headers)
  // What is very short is no secret, and would blacken half of a text.
  return [token, ...passed].filter((value): value is string => value !== undefined && value.length >= 8)
}
