import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Model } from '../../src/models/model.ts'
import { callersWithKeys, type Caller } from './callers.ts'
import { startConfigured } from './integrations.ts'

const tool = (name: string, execute: string) => `{ kind: 'tool', name: '${name}', description: '', input: { type: 'object' }, execute: ${execute}, needsApproval: false, handling: 'response' }`

/** A configuration that offers everything: two bases, an abstract one, tools and a model. */
export const offering = `{
  agents: [
    { key: 'helper', description: 'Helps', instructions: 'BASE-INSTRUCTIONS', tools: [${tool('own', "() => 'from the base'")}], agents: ['member'], titleGeneration: false, aliases: ['old.helper'] },
    { key: 'member', hidden: true, instructions: 'MEMBER-INSTRUCTIONS' },
    { key: 'plain', abstract: true, titleGeneration: false, meta: { team: 'blue' } },
    { key: 'staff', permissions: [{ hasRole: 'staff' }], titleGeneration: false },
    { key: 'chooser', tools: (context, tools) => tools }
  ],
  defaultAgent: 'helper',
  tools: [${tool('clock', "() => 'noon'")}, ${tool('lamp', "() => 'on'")}, ${tool('secret', "() => 'not offered'")}],
  runtimeAgents: { bases: ['helper', 'plain', 'staff', 'chooser'], tools: ['clock', 'lamp'], models: ['offline'] },
  permissions: { agent: [(principal, operation) => operation !== 'manage_agent' || principal.roles.includes('builder')] }
}`

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are asserted on, not typed
export interface Answer { readonly status: number, readonly body: any, readonly text: string }

export interface RuntimeAgentsApp {
  readonly app: FastifyInstance
  readonly url: string
  readonly ask: (name: CallerName, method: string, path: string, body?: unknown) => Promise<Answer>
}

const names = ['ada+builder', 'bob', 'sue+builder+staff', 'eve@south+builder'] as const
export type CallerName = typeof names[number]

// The same callers on every start of a service.
const { callers, env: keys } = callersWithKeys(...names)

export interface RuntimeAgentsAppOptions {
  readonly config?: string
  readonly model?: Model
  readonly databaseUrl?: string
  readonly log?: FastifyBaseLogger
}

/** A service with callers of two tenants, of whom all but Bob manage agents. */
export async function startWithRuntimeAgents (t: Test, { config = offering, ...options }: RuntimeAgentsAppOptions = {}): Promise<RuntimeAgentsApp> {
  const { app, url } = await startConfigured(t, { config, env: { AUTH: 'keys', ...keys }, ...options })
  return { app, url, ask: (name, method, path, body) => askAs(callers[name], method, url + path, body) }
}

async function askAs ({ headers }: Caller, method: string, url: string, body: unknown): Promise<Answer> {
  const raw = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(url, { method, headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: raw }) })
  const text = await answer.text()
  return { status: answer.status, text, body: answer.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : undefined }
}
