import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'

/** Whom a token is wanted for. */
export interface TokenRequest {
  readonly principal: Principal
  /** The thread's metadata with the request's over it, and what crews say of their members. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Gives the token a caller is known by at the other side; nothing when there is none. */
export type UserToken = (request: TokenRequest) => string | undefined | Promise<string | undefined>

const texts = z.array(z.string()).default([])
const ofAll = {
  type: z.literal('mcp', "expected 'mcp'"),
  /** What people see; the name when absent. */
  title: z.string().min(1).optional(),
  /** Only callers with one of these roles may use it, and those only whom the permissions of integrations let. */
  roles: z.array(z.string().min(1)).min(1).optional(),
  /** For connecting and asking for the tools. */
  timeoutMs: z.number().int().positive().max(60_000).default(3_000),
  /** How long a connection that nobody uses is kept. */
  idleMs: z.number().int().positive().max(86_400_000).default(300_000),
  /** Whether the model and the user are told what a tool says of its failure, and not only that it failed. */
  showErrors: z.boolean().default(false)
}

/** A server that is reached by a URL. */
export const remoteIntegrationSchema = z.strictObject({
  ...ofAll,
  url: z.url({ protocol: /^https?$/, error: 'expected an http or https URL' }),
  transport: z.enum(['streamable-http', 'sse']).default('streamable-http'),
  headers: z.record(z.string(), z.string()).default({}),
  /** Environment variable of the token that everybody's calls are made with. */
  tokenEnv: z.string().min(1).optional(),
  /** Where the caller's own token is: a field of the metadata, or a function. */
  userToken: z.union([z.string().min(1), z.custom<UserToken>((value) => typeof value === 'function', 'expected a field of the metadata, or a function')]).optional()
})

/** A server that is a process of this machine, started when it is needed. */
export const localIntegrationSchema = z.strictObject({
  ...ofAll,
  command: z.string().min(1),
  args: texts,
  env: z.record(z.string(), z.string()).default({}),
  /** Environment variables of this service that it gets as they are. It sees no others but the most common, such as PATH. */
  passEnv: texts,
  cwd: z.string().min(1).optional()
})

export type RemoteIntegration = z.output<typeof remoteIntegrationSchema>
export type LocalIntegration = z.output<typeof localIntegrationSchema>
export type Integration = RemoteIntegration | LocalIntegration
export type IntegrationDefinition = z.input<typeof remoteIntegrationSchema> | z.input<typeof localIntegrationSchema>

/** Gives an integration its type. It checks nothing: the loader reports the mistakes of all files together. */
export function defineIntegration (integration: IntegrationDefinition): IntegrationDefinition {
  return integration
}

/** The variables whose values it needs. */
export function variablesOf (integration: Integration): readonly string[] {
  if ('command' in integration) return integration.passEnv
  return integration.tokenEnv === undefined ? [] : [integration.tokenEnv]
}

/** Whether the roles it asks for let the caller use it. */
export function isForRolesOf ({ roles }: Pick<Integration, 'roles'>, principal: Principal): boolean {
  return roles === undefined || roles.some((role) => principal.roles.includes(role))
}
