import { readFile } from 'node:fs/promises'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { environmentSchema, loadConfig } from '../src/config.ts'

// The keys that are used, and no others: a misspelt one would be a setting that is not there.
const duration = z.string().regex(/^\d+(ms|s|m|h)$/)
const healthcheck = z.strictObject({
  test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], z.string()), interval: duration, timeout: duration, retries: z.number().int().positive(), start_period: duration
})
const service = z.strictObject({
  build: z.literal('.').optional(),
  image: z.string().regex(/^[\w./-]+:[\w.-]+$/, 'an image with its version').optional(),
  environment: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string()),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'published on this machine only')).optional(),
  volumes: z.array(z.string().regex(/^[a-z]+:\/[\w/]+$/)),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.enum(['service_started', 'service_healthy']) })).optional(),
  healthcheck: healthcheck.optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  stop_grace_period: duration.optional()
}).refine(({ build, image }) => (build === undefined) !== (image === undefined), 'built here or an image')
const composeSchema = z.strictObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })

const compose = async () => composeSchema.parse(parse(await readFile('docker-compose.yml', 'utf8')))

t.test('docker-compose.yml holds what Compose knows, on this machine only', async (t) => {
  const { services, volumes } = await compose()
  t.strictSame(Object.keys(services), ['parley', 'postgres'])
  t.equal(services['postgres']?.image, 'postgres:17')
  for (const { volumes: mounts } of Object.values(services)) for (const mount of mounts) t.ok((mount.split(':')[0] ?? '') in volumes, mount)
})

t.test('the service waits until its database is healthy', async (t) => {
  const { services } = await compose()
  for (const [name, { depends_on: needed = {} }] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(needed)) {
      t.equal(condition, 'service_healthy', `${name} waits for ${other}`)
      t.ok(services[other]?.healthcheck !== undefined, `${other} says when it is`)
    }
  }
  t.ok(services['parley']?.depends_on?.['postgres'] !== undefined)
})

t.test('its environment is one the service starts with, and leaves it time to end', async (t) => {
  const { services } = await compose()
  const environment = Object.entries(services['parley']?.environment ?? {}).map(([name, value]) => [name, substituted(value)] as const)
  for (const [name] of environment) t.ok(name in environmentSchema.shape, name)
  const config = loadConfig({ HOST: '0.0.0.0', ...Object.fromEntries(environment) })
  t.match(config.databaseUrl, 'postgresql://parley:parley@postgres:5432/parley')
  t.equal(config.authAllowAnonymous, true)
  t.ok(Number.parseInt(services['parley']?.stop_grace_period ?? '0') * 1000 > config.drainTimeoutMs)
})

t.test('the database has the password the service uses, from the environment where it is set', async (t) => {
  const { services } = await compose()
  const password = services['postgres']?.environment['POSTGRES_PASSWORD'] ?? ''
  t.match(password, /^\$\{POSTGRES_PASSWORD:-\w+\}$/)
  t.ok(services['parley']?.environment['DATABASE_URL']?.includes(`:${password}@postgres:`))
})

/** As Compose does where no variable is set. */
function substituted (value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')
}
