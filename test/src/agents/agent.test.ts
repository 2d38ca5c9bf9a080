import { readFile } from 'node:fs/promises'
import t from 'tap'
import { agentSchema, defineAgent } from '../../../src/agents/agent.ts'

t.test('defineAgent fills in the defaults and freezes', async (t) => {
  const agent = defineAgent({ key: 'demo' })
  t.match(agent, { kind: 'agent', key: 'demo', instructions: 'You are a helpful agent.', tools: [], hidden: false, toolConcurrency: 4, timeouts: { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 300_000 } })
  t.throws(() => Object.assign(agent, { key: 'other' }), TypeError)
})

t.test('what an agent does not say is the default', async (t) => {
  t.match(defineAgent({ key: 'demo' }), {
    aliases: [], description: '', fallbackModels: [], modelSettings: {}, skills: [], memory: 'none', storage: 'database', integrations: [], artifacts: [], toolArtifacts: {}, requiredTools: [],
    agents: [], delegation: 'tools', maxDepth: 2, maxMemberCalls: 24, memberConcurrency: 4, shareAttachments: false, subagentStream: 'tools', needsApproval: false,
    fileUpload: false, vision: false, toolChoice: 'auto', toolTimeoutMs: 120_000, stopWhen: [], titleGeneration: true, onDisconnect: 'continue', protocol: 'ai-sdk', wireProfile: 'portable',
    meta: {}, directAccess: false, abstract: false
  })
  for (const name of ['model', 'maxHistory', 'maxSteps', 'maxToolCalls', 'responseFormat', 'budget', 'compaction', 'suggestions'] as const) t.equal(defineAgent({ key: 'demo' })[name], undefined, name)
  t.strictSame(defineAgent({ key: 'demo', meta: { team: ['a'] } }).meta, { team: ['a'] }, 'what is said of it stays as it is')
})

t.test('a defined agent can be spread as the base of another', async (t) => {
  const base = defineAgent({ key: 'base', abstract: true, description: 'Both', maxSteps: 3, timeouts: { idleMs: 10 } })
  const derived = defineAgent({ ...base, key: 'derived', abstract: false })
  t.match(derived, { kind: 'agent', key: 'derived', abstract: false, description: 'Both', maxSteps: 3, timeouts: { idleMs: 10, totalMs: 300_000 } })
})

t.test('defineAgent names everything that is wrong', async (t) => {
  // @ts-expect-error: what a file without types may say
  t.throws(() => defineAgent({ key: 'a b', maxSteps: 0, onBusy: 'queue' }), { name: 'ZodError', issues: [{ path: ['key'] }, { path: ['maxSteps'] }, { code: 'unrecognized_keys', keys: ['onBusy'] }] })
})

t.test('a budget is of whole tokens, of dollars, or of both, and more than nothing', async (t) => {
  for (const budget of [{}, { tokens: 1 }, { costUsd: 0.01 }, { tokens: 1, costUsd: 1 }]) t.strictSame(defineAgent({ key: 'x', budget }).budget, budget)
  for (const budget of [{ tokens: 0 }, { tokens: 1.5 }, { costUsd: 0 }, { usd: 1 }]) t.notOk(agentSchema.safeParse({ key: 'x', budget }).success, JSON.stringify(budget))
})

t.test('compaction is off, automatic, or a policy', async (t) => {
  const auto = { at: 0.92, to: 0.7, keepSteps: 4, summarise: true }
  t.equal(defineAgent({ key: 'x' }).compaction, undefined)
  t.equal(defineAgent({ key: 'x', compaction: 'off' }).compaction, undefined)
  const base = defineAgent({ key: 'x', compaction: 'auto' })
  t.strictSame(base.compaction, auto)
  t.strictSame(defineAgent({ ...base, key: 'y' }).compaction, auto)
  t.strictSame(defineAgent({ key: 'x', compaction: { keepSteps: 2, summarise: false } }).compaction, { ...auto, keepSteps: 2, summarise: false })
  for (const wrong of ['on', { at: 1.1 }, { at: 0.5, to: 0.5 }, { keepSteps: -1 }, { window: 8 }]) t.notOk(agentSchema.safeParse({ key: 'x', compaction: wrong }).success, JSON.stringify(wrong))
})

t.test('docs/agents.md describes every attribute, and no other', async (t) => {
  const page = await readFile('docs/agents.md', 'utf8')
  const table = /## Attributes\n(.*?)\n## /s.exec(page)?.[1] ?? ''
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.+?) \| .+ \|$/gm)].map(([, name = '', fallback = '']) => ({ name, fallback: fallback.replaceAll('`', '') }))
  t.strictSame(rows.map(({ name }) => name).sort(), Object.keys(agentSchema.shape).sort())
  const defaults = defineAgent({ key: 'x' })
  for (const name of ['hidden', 'directAccess', 'abstract', 'titleGeneration', 'onDisconnect', 'toolChoice', 'toolConcurrency', 'toolTimeoutMs'] as const) {
    t.equal(rows.find((row) => row.name === name)?.fallback, String(defaults[name]), name)
  }
})
