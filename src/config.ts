import { isIP } from 'node:net'
import { z } from 'zod'

const longestTimer = 2_147_483_647

/** Every variable the service reads, in the order the documentation shows them. Messages never repeat a value: it may be a secret. */
export const environmentSchema = z.object({
  HOST: text('a host name or an IP address').default('127.0.0.1').meta({ meaning: 'Address to listen on' }),
  PORT: whole(0, 65_535).default(3000).meta({ meaning: 'Port to listen on; 0 takes a free one' }),
  PUBLIC_URL: httpUrl().optional().meta({ meaning: 'Address under which clients reach the service, for absolute URLs' }),
  TRUST_PROXY: z.string().transform(toTrustProxy).default(false).meta({ meaning: 'Whose forwarded headers count: true, false, a number of hops, or addresses separated by commas' }),
  CORS_ORIGINS: list(isOrigin, 'origins such as https://app.example.com separated by commas, or *').default([]).meta({ meaning: 'Origins of browsers that may call the service; * for all, only with AUTH=none' }),
  MAX_BODY_BYTES: whole(1, Number.MAX_SAFE_INTEGER).default(1_048_576).meta({ meaning: 'Largest request body', unit: 'bytes' }),

  AUTH: z.enum(['none'], 'expected none, the only way this version knows').default('none').meta({ meaning: 'How callers are told apart' }),
  AUTH_ALLOW_ANONYMOUS: flag().default(false).meta({ meaning: 'Allows AUTH=none on an address that other machines can reach' }),

  DATA_DIR: text('a folder').default('./data').meta({ meaning: 'Folder of everything the service keeps on disk' }),
  DATABASE_URL: z.string().regex(/^(file:.|postgres(ql)?:\/\/.)/, 'expected file:<path> or postgresql://<user>:<password>@<host>/<database>').optional()
    .meta({ meaning: 'Database', secret: true, shownDefault: 'file:<DATA_DIR>/parley.db' }),

  PARLEY_CONFIG: text('a path').optional().meta({ meaning: 'Configuration file', shownDefault: 'parley.config.* in the working directory' }),
  DEFAULT_AGENT: text('the key or id of an agent').optional().meta({ meaning: 'Agent of a chat that names none', shownDefault: "the configuration's" }),
  DEFAULT_MODEL: text('provider:model').optional().meta({ meaning: 'Model of agents that name none', shownDefault: "the configuration's" }),
  OPENAI_API_KEY: text('a key').optional().meta({ meaning: 'Key of the provider openai', secret: true }),
  OPENAI_BASE_URL: httpUrl().optional().meta({ meaning: 'Another address that speaks the OpenAI API' }),
  OFFLINE_WORD_DELAY_MS: milliseconds(0).default(15).meta({ meaning: 'Pause between two words of the offline model', unit: 'milliseconds' }),

  HEARTBEAT_MS: milliseconds(1).default(15_000).meta({ meaning: 'Silence on a stream after which a comment keeps it alive', unit: 'milliseconds' }),
  RUN_GRACE_MS: milliseconds(0).default(60_000).meta({ meaning: 'How long an ended run can still be read', unit: 'milliseconds' }),
  DRAIN_TIMEOUT_MS: milliseconds(0).default(30_000).meta({ meaning: 'How long running answers may finish at shutdown', unit: 'milliseconds' }),
  TOOL_OUTPUT_LIMIT: whole(0, Number.MAX_SAFE_INTEGER).default(100_000).meta({ meaning: 'Longest tool result a model is given; 0 for no limit', unit: 'characters' }),
  HISTORY_TOOL_OUTPUT_LIMIT: whole(0, Number.MAX_SAFE_INTEGER).default(4000).meta({ meaning: 'Longest tool result of earlier turns a model is given again; 0 for no limit', unit: 'characters' }),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'expected fatal, error, warn, info, debug, trace or silent').default('info').meta({ meaning: 'Least important lines that are logged' })
})

type Environment = z.output<typeof environmentSchema>
type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}` : Lowercase<S>
type Settled = Omit<Environment, 'DATABASE_URL'> & { DATABASE_URL: string }

/** The environment, parsed once: HEARTBEAT_MS is `heartbeatMs`. */
export type Config = Readonly<{ [K in keyof Settled as Camel<K>]: Settled[K] }>

export interface Variable {
  readonly name: string
  readonly meaning: string
  readonly default: string | undefined
  readonly unit: string | undefined
  readonly secret: boolean
}

/** What the documentation says about each variable. */
export const variables: readonly Variable[] = Object.entries(environmentSchema.shape).map(([name, schema]) => {
  const { meaning = '', unit, secret = false, shownDefault } = (schema.meta() ?? {}) as { meaning?: string, unit?: string, secret?: boolean, shownDefault?: string }
  const value = schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : ''
  return { name, meaning, default: shownDefault ?? (value === '' ? undefined : value), unit, secret }
})

/** Lists everything that is wrong with the environment, each line naming its variable and what was expected. */
export class InvalidEnvironment extends Error {
  readonly problems: readonly string[]

  constructor (problems: readonly string[]) {
    super(`The environment is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'InvalidEnvironment'
    this.problems = problems
  }
}

/** Throws InvalidEnvironment with all problems at once. A variable set to nothing counts as absent. */
export function loadConfig (env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''))
  const result = environmentSchema.safeParse(present)
  const wrong = new Set(result.error?.issues.map((issue) => String(issue.path[0])))
  const problems = result.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? []
  // The rules between variables are checked on what can be read, so that they are not a second round of complaints.
  const host = wrong.has('HOST') ? undefined : present['HOST'] ?? '127.0.0.1'
  if (host !== undefined && !wrong.has('AUTH') && !isLoopback(host) && present['AUTH_ALLOW_ANONYMOUS'] !== 'true') {
    problems.push('AUTH: none is refused on a HOST that other machines can reach; expected HOST=127.0.0.1, or AUTH_ALLOW_ANONYMOUS=true if everybody may use the service')
  }
  if (problems.length > 0 || result.data === undefined) throw new InvalidEnvironment(problems)
  const settled: Settled = { ...result.data, DATABASE_URL: result.data.DATABASE_URL ?? `file:${result.data.DATA_DIR.replace(/\/+$/, '')}/parley.db` }
  // True because `camel` does to the names what the type Camel does.
  return Object.freeze(Object.fromEntries(Object.entries(settled).map(([name, value]) => [camel(name), value]))) as Config
}

function camel (name: string): string {
  return name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function text (what: string) {
  return z.string(`expected ${what}`).trim().min(1, `expected ${what}`)
}

function whole (least: number, most: number) {
  const expected = most === Number.MAX_SAFE_INTEGER ? `expected a whole number from ${least}` : `expected a whole number from ${least} to ${most}`
  return z.string().trim().regex(/^\d{1,16}$/, expected).transform(Number).refine((value) => value >= least && value <= most, expected)
}

function milliseconds (least: number) {
  return whole(least, longestTimer)
}

function flag () {
  return z.enum(['true', 'false'], 'expected true or false').transform((value) => value === 'true')
}

function httpUrl () {
  return z.string().trim().refine((value) => parseHttpUrl(value) !== undefined, 'expected an http or https URL').transform((value) => value.replace(/\/+$/, ''))
}

function list (accepts: (item: string) => boolean, expected: string) {
  return z.string()
    .transform((value) => value.split(',').map((item) => item.trim()).filter((item) => item !== ''))
    .refine((items) => items.every(accepts), `expected ${expected}`)
    .transform((items): readonly string[] => items)
}

function isOrigin (value: string): boolean {
  if (value === '*') return true
  return parseHttpUrl(value)?.origin === value
}

function parseHttpUrl (value: string): URL | undefined {
  // Not URL.parse: Node 20.19 may lack it.
  const url = URL.canParse(value) ? new URL(value) : undefined
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined
}

function isLoopback (host: string): boolean {
  const bare = host.trim().replace(/^\[|\]$/g, '').toLowerCase()
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

function toTrustProxy (value: string, context: z.RefinementCtx<string>): boolean | number | readonly string[] {
  const trimmed = value.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  if (/^\d{1,3}$/.test(trimmed)) return Number(trimmed)
  const addresses = trimmed.split(',').map((item) => item.trim()).filter((item) => item !== '')
  if (addresses.every((address) => /^(loopback|linklocal|uniquelocal)$/.test(address) || isAddress(address))) return addresses
  context.addIssue('expected true, false, a number of hops, or addresses separated by commas')
  return z.NEVER
}

function isAddress (value: string): boolean {
  const [address = '', bits = '0', ...rest] = value.split('/')
  return isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && rest.length === 0
}
