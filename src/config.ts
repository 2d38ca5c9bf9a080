import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'

const longestTimer = 2_147_483_647

// What is kept with every thread: without what a database refuses or a log shows wrongly.
const name = z.string('expected a text').regex(/^[^\p{Cc}\p{Surrogate}]{1,200}$/u, 'expected 1 to 200 characters without control characters')

/** One key that is let in: whose it is, and the hash it is known by. */
export const keyEntrySchema = z.strictObject({
  hash: z.string('expected a text').regex(/^sha256:[0-9a-f]{64}$/, 'expected sha256: and 64 lower case hexadecimal digits'),
  user: name,
  tenant: name.default('default'),
  roles: z.array(name, 'expected a list of texts').default([]).readonly()
})

/** Every variable the service reads, in the order the documentation shows them. Messages never repeat a value: it may be a secret. */
export const environmentSchema = z.object({
  HOST: text('a host name or an IP address').default('127.0.0.1').meta({ meaning: 'Address to listen on' }),
  PORT: whole(0, 65_535).default(3000).meta({ meaning: 'Port to listen on; 0 takes a free one' }),
  PUBLIC_URL: httpUrl().optional().meta({ meaning: 'Address under which clients reach the service, for absolute URLs' }),
  TRUST_PROXY: z.string().transform(toTrustProxy).default(false).meta({ meaning: 'Whose forwarded headers count: true, false, a number of hops, or addresses separated by commas' }),
  CORS_ORIGINS: list(isOrigin, 'origins such as https://app.example.com separated by commas, or *').default([]).meta({ meaning: 'Origins of browsers that may call the service; * for all, only with AUTH=none' }),
  MAX_BODY_BYTES: whole(1, Number.MAX_SAFE_INTEGER).default(1_048_576).meta({ meaning: 'Largest request body', unit: 'bytes' }),

  AUTH: z.enum(['none', 'keys', 'jwt'], 'expected none, keys or jwt').default('none').meta({ meaning: 'How callers are told apart: none, keys or jwt' }),
  AUTH_ALLOW_ANONYMOUS: flag().default(false).meta({ meaning: 'Allows AUTH=none on an address that other machines can reach' }),
  AUTH_KEYS: z.string().transform(toKeys).optional().meta({ meaning: 'Who may call with AUTH=keys: a JSON list of entries with hash, user, tenant and roles' }),
  AUTH_KEYS_FILE: z.string().trim().transform(readKeys).optional().meta({ meaning: 'File with more entries like those of AUTH_KEYS' }),
  AUTH_JWKS_URL: exactHttpUrl().optional().meta({ meaning: 'Where the keys are published that sign tokens with AUTH=jwt' }),
  AUTH_JWT_SECRET: z.string().refine((value) => Buffer.byteLength(value) >= 32, 'expected at least 32 bytes').optional().meta({ meaning: 'Key that tokens are signed with where none are published; at least 32 bytes', secret: true }),
  AUTH_ISSUER: text('the iss of tokens').optional().meta({ meaning: 'Who must have issued a token' }),
  AUTH_AUDIENCE: list(() => true, 'the aud of tokens').refine((items) => items.length > 0, 'expected the aud of tokens').optional().meta({ meaning: 'For whom a token must be, one of these separated by commas' }),
  AUTH_TENANT_CLAIM: text('the name of a claim').default('tenant').meta({ meaning: "Claim that holds a caller's tenant" }),
  AUTH_ROLES_CLAIM: text('the name of a claim').default('roles').meta({ meaning: "Claim that holds a caller's roles" }),
  RATE_LIMIT_PER_MINUTE: whole(0, Number.MAX_SAFE_INTEGER).default(0).meta({ meaning: 'Requests a caller may send in a minute; 0 for no limit' }),
  AUTH_FAILURES_PER_MINUTE: whole(0, Number.MAX_SAFE_INTEGER).default(300).meta({ meaning: 'Wrong credentials an address may send in a minute; 0 for no limit' }),

  DATA_DIR: text('a folder').default('./data').meta({ meaning: 'Folder of everything the service keeps on disk' }),
  DATABASE_URL: z.string().regex(/^(file:.|postgres(ql)?:\/\/.)/, 'expected file:<path> or postgresql://<user>:<password>@<host>/<database>').optional()
    .meta({ meaning: 'Database', secret: true, shownDefault: 'file:<DATA_DIR>/parley.db' }),
  MAX_UPLOAD_BYTES: whole(1, 2_147_483_647).default(10_485_760).meta({ meaning: 'Largest uploaded file', unit: 'bytes' }),
  MAX_UPLOAD_FILES: whole(1, 100).default(10).meta({ meaning: 'Most files of one upload' }),
  ALLOWED_FILES: list((item) => /^\.?[a-z0-9]+$/i.test(item), 'extensions such as txt,csv,png').optional().meta({ meaning: 'Which files may be uploaded, by extensions separated by commas', shownDefault: 'all that can be read' }),
  INLINE_TEXT_CHARS: whole(0, 1_000_000).default(4000).meta({ meaning: 'Longest text of a file that a model is given with a message; 0 for none', unit: 'characters' }),

  PARLEY_CONFIG: text('a path').optional().meta({ meaning: 'Configuration file', shownDefault: 'parley.config.* in the working directory' }),
  DEFAULT_AGENT: text('the key or id of an agent').optional().meta({ meaning: 'Agent of a chat that names none', shownDefault: "the configuration's" }),
  DEFAULT_MODEL: text('provider:model').optional().meta({ meaning: 'Model of agents that name none', shownDefault: "the configuration's" }),
  OPENAI_API_KEY: text('a key').optional().meta({ meaning: 'Key of the provider openai', secret: true }),
  OPENAI_BASE_URL: httpUrl().optional().meta({ meaning: 'Another address that speaks the OpenAI API' }),
  OFFLINE_WORD_DELAY_MS: milliseconds(0).default(15).meta({ meaning: 'Pause between two words of the offline model', unit: 'milliseconds' }),

  EGRESS_ALLOW: list(isEgressEntry, 'hosts such as tools.internal or tools.internal:8080, addresses, or networks such as 10.0.0.0/8, separated by commas').default([])
    .meta({ meaning: 'What integrations may reach beside public addresses: hosts, hosts with a port, addresses or networks, separated by commas' }),

  HEARTBEAT_MS: milliseconds(1).default(15_000).meta({ meaning: 'Silence on a stream after which a comment keeps it alive', unit: 'milliseconds' }),
  APPROVAL_TTL_MS: milliseconds(1).default(86_400_000).meta({ meaning: 'How long a call waits for approval before it counts as denied', unit: 'milliseconds' }),
  RUN_GRACE_MS: milliseconds(0).default(60_000).meta({ meaning: 'How long an ended run can still be read', unit: 'milliseconds' }),
  DRAIN_TIMEOUT_MS: milliseconds(0).default(30_000).meta({ meaning: 'How long running answers may finish at shutdown', unit: 'milliseconds' }),
  TOOL_OUTPUT_LIMIT: whole(0, Number.MAX_SAFE_INTEGER).default(100_000).meta({ meaning: 'Longest tool result a model is given; 0 for no limit', unit: 'characters' }),
  SUBAGENT_DIGEST_LIMIT: whole(0, Number.MAX_SAFE_INTEGER).default(6000).meta({ meaning: 'How much of what a member gathered stands in for a report it did not finish; 0 for no limit', unit: 'characters' }),
  HISTORY_TOOL_OUTPUT_LIMIT: whole(0, Number.MAX_SAFE_INTEGER).default(4000).meta({ meaning: 'Longest tool result of earlier turns a model is given again; 0 for no limit', unit: 'characters' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional().meta({ meaning: 'Collector that traces are sent to, over OTLP and HTTP; none are made without it' }),
  OTEL_SERVICE_NAME: text('a name').default('parley').meta({ meaning: 'Name of the service in traces' }),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag().default(false).meta({ meaning: 'Whether traces hold what users, models and tools say' }),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'expected fatal, error, warn, info, debug, trace or silent').default('info').meta({ meaning: 'Least important lines that are logged' })
})

export type KeyEntry = Readonly<z.output<typeof keyEntrySchema>>

type Environment = z.output<typeof environmentSchema>
type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}` : Lowercase<S>
type Settled = Omit<Environment, 'DATABASE_URL' | 'AUTH_KEYS' | 'AUTH_KEYS_FILE'> & { DATABASE_URL: string, AUTH_KEYS: readonly KeyEntry[] }

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
  problems.push(...conflicts(present, wrong))
  if (problems.length > 0 || result.data === undefined) throw new InvalidEnvironment(problems)
  const { AUTH_KEYS = [], AUTH_KEYS_FILE = [], ...data } = result.data
  const keys = [...AUTH_KEYS, ...AUTH_KEYS_FILE]
  if (repeated(keys) !== undefined) throw new InvalidEnvironment(['AUTH_KEYS_FILE: expected other keys than those of AUTH_KEYS'])
  const settled: Settled = { ...data, AUTH_KEYS: keys, DATABASE_URL: data.DATABASE_URL ?? `file:${data.DATA_DIR.replace(/\/+$/, '')}/parley.db` }
  // True because `camel` does to the names what the type Camel does.
  return Object.freeze(Object.fromEntries(Object.entries(settled).map(([name, value]) => [camel(name), value]))) as Config
}

/** What is wrong between variables; one that cannot be read has been complained about already. */
function conflicts (present: Readonly<Record<string, string | undefined>>, wrong: ReadonlySet<string>): string[] {
  const problems: string[] = []
  const has = (name: string) => present[name] !== undefined
  const [auth, host] = [present['AUTH'] ?? 'none', present['HOST'] ?? '127.0.0.1']
  const idle = has('AUTH') ? undefined : ['AUTH_KEYS', 'AUTH_KEYS_FILE', 'AUTH_JWKS_URL', 'AUTH_JWT_SECRET'].find(has)
  if (wrong.has('AUTH')) return problems
  if (idle !== undefined) problems.push(`AUTH: expected ${idle.startsWith('AUTH_KEYS') ? 'keys' : 'jwt'}, since ${idle} is set; or none, if everybody may use the service`)
  else if (auth === 'none' && !wrong.has('HOST') && !isLoopback(host) && present['AUTH_ALLOW_ANONYMOUS'] !== 'true') {
    problems.push('AUTH: none is refused on a HOST that other machines can reach; expected keys, jwt, HOST=127.0.0.1, or AUTH_ALLOW_ANONYMOUS=true if everybody may use the service')
  }
  if (auth === 'keys' && !has('AUTH_KEYS') && !has('AUTH_KEYS_FILE')) problems.push('AUTH_KEYS: expected with AUTH=keys, or AUTH_KEYS_FILE; "parley key <user>" makes an entry')
  if (auth === 'jwt' && has('AUTH_JWKS_URL') === has('AUTH_JWT_SECRET')) problems.push('AUTH_JWKS_URL: expected with AUTH=jwt, or AUTH_JWT_SECRET, and not both')
  if (auth !== 'none' && !wrong.has('CORS_ORIGINS') && present['CORS_ORIGINS']?.split(',').some((item) => item.trim() === '*') === true) {
    problems.push('CORS_ORIGINS: expected origins by name; * is for AUTH=none only')
  }
  return problems
}

/** Says which entry is wrong and how, never what it holds. */
function toKeys (json: string, context: z.RefinementCtx<string>): readonly KeyEntry[] {
  const listed = z.array(z.unknown()).min(1).safeParse(parseJson(json))
  if (!listed.success) {
    context.addIssue('expected a JSON list of at least one entry {"hash", "user", "tenant", "roles"}')
    return z.NEVER
  }
  const entries = listed.data.flatMap((item, index) => {
    const { data, error } = keyEntrySchema.safeParse(item)
    for (const issue of error?.issues ?? []) context.addIssue(`entry ${index + 1}: ${entryProblem(issue)}`)
    return data === undefined ? [] : [data]
  })
  const again = repeated(entries)
  if (again !== undefined && entries.length === listed.data.length) context.addIssue(`entry ${again + 1}: expected a key that no other entry has`)
  return entries
}

function entryProblem (issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return 'expected no other fields than hash, user, tenant and roles'
  return issue.path.length === 0 ? 'expected an object' : `${issue.path.join('.')}: ${issue.message}`
}

function repeated (entries: readonly KeyEntry[]): number | undefined {
  const index = entries.findIndex(({ hash }, index) => entries.findIndex((other) => other.hash === hash) < index)
  return index === -1 ? undefined : index
}

function readKeys (path: string, context: z.RefinementCtx<string>): readonly KeyEntry[] {
  try {
    return toKeys(readFileSync(path, 'utf8'), context)
  } catch {
    // The reason would repeat the path, and with it whatever was put here by mistake.
    context.addIssue('expected a file that can be read')
    return z.NEVER
  }
}

function parseJson (json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // Told by the schema: what is not JSON is no list.
    return undefined
  }
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

function exactHttpUrl () {
  return z.string().trim().refine((value) => parseHttpUrl(value) !== undefined, 'expected an http or https URL')
}

function httpUrl () {
  return exactHttpUrl().transform((value) => value.replace(/\/+$/, ''))
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

/** A network, an address, or a host; the last two may have a port. */
function isEgressEntry (value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/')
  if (bits !== undefined) return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1)
  if (isIP(value) !== 0) return true
  const { host = '', port = '1' } = /^(?<host>\[[^\]]*\]|[a-z0-9][a-z0-9._-]*)(?::(?<port>\d{1,5}))?$/i.exec(value)?.groups ?? {}
  return (host.startsWith('[') ? isIP(host.slice(1, -1)) === 6 : host !== '') && Number(port) >= 1 && Number(port) <= 65_535
}

function isAddress (value: string): boolean {
  const [address = '', bits = '0', ...rest] = value.split('/')
  return isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && rest.length === 0
}
