import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { loadRegistry, type LoadedRegistry } from '../../src/agents/load-registry.ts'
import { anonymous } from '../../src/auth/principal.ts'
import { loadConfig } from '../../src/config.ts'
import type { RunEventBody, RunEventOf, RunEventType } from '../../src/events/run-event.ts'
import type { RunLogger } from '../../src/runtime/log.ts'
import { runAgent } from '../../src/runtime/run-agent.ts'
import type { RunInput } from '../../src/runtime/run-input.ts'
import { compileSchema, toJsonSchema } from '../../src/tools/schema.ts'

t.test('the configuration of the checkout loads without a warning, with the assistant as its default', async (t) => {
  const registry = await checkout()
  t.strictSame(registry.warnings, [])
  t.equal(registry.defaultAgent()?.key, 'assistant')
  t.strictSame(registry.all().map(({ key }) => key), ['assistant', 'briefing', 'extractor', 'guide', 'librarian'])
  t.strictSame([...new Set(registry.all().map(({ model }) => model))], ['offline'])
})

t.test('docs/agents.md lists every reference agent', async (t) => {
  const page = await readFile('docs/agents.md', 'utf8')
  const listed = [...page.matchAll(/^\| `agents\/([\w.-]+)` \|/gm)].map(([, file]) => file)
  t.strictSame(listed.sort(), (await readdir('agents', { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name).sort())
})

t.test('the assistant rolls dice when it is asked to', async (t) => {
  const events = await run('assistant', 'Please roll dice')
  const { rolls, total } = outputOf(events, 'roll_dice') as { rolls: number[], total: number }
  t.equal(rolls.length, 1)
  t.ok(rolls.every((roll) => Number.isInteger(roll) && roll >= 1 && roll <= 6), `${rolls}`)
  t.equal(total, rolls[0])
  t.equal(events.at(-1)?.type, 'run-completed')
})

t.test('the assistant calculates', async (t) => {
  t.match(outputOf(await run('assistant', 'calculate 2 + 3 * 4'), 'calculate'), { value: 14 })
})

t.test('the assistant tells the time, and says which zones it does not know', async (t) => {
  const before = Date.now()
  const { utc } = outputOf(await run('assistant', 'What does get_time say?'), 'get_time') as { utc: string }
  t.ok(Date.parse(utc) >= before && Date.parse(utc) <= Date.now(), utc)
  t.match(outputOf(await run('assistant', 'get_time with timeZone: Europe/Berlin'), 'get_time'), { timeZone: 'Europe/Berlin', local: /CES?T|GMT\+[12]/ })
  t.match(outputOf(await run('assistant', 'get_time with timeZone: Mars/Base'), 'get_time'), { problem: 'There is no time zone "Mars/Base".' })
})

t.test('the librarian, which is written in YAML, finds a book and its shelf', async (t) => {
  t.match(outputOf(await run('librarian', 'find_book query: astronomy'), 'find_book'), { found: 1, books: [{ title: 'Letters from the Observatory', shelf: 'D4' }] })
  t.match(outputOf(await run('librarian', 'find_book query: knitting'), 'find_book'), { found: 0, books: [] })
})

t.test('the guide waits for the frontend to tell the location', async (t) => {
  const events = await run('guide', 'Please ask location for a walk')
  const [call] = ofType(events, 'tool-input-complete')
  t.match(call, { toolName: 'ask_location', input: { reason: String } })
  t.match(events.at(-1), { type: 'run-suspended', pendingCalls: [call?.callId] })
})

t.test('the briefing collects side by side and writes of what it found', async (t) => {
  const events = await run('briefing', 'Books on astronomy, and an order of 3 lamps')
  t.equal(events.at(-1)?.type, 'run-completed')
  t.equal(ofType(events, 'step-end').length, 3)
  const text = ofType(events, 'text-delta').map(({ delta }) => delta).join('')
  t.match(text, /^Briefing on: Books on astronomy/)
  t.match(text, /I am the offline model/)
  t.ok(ofType(events, 'usage').some(({ agentPath }) => agentPath?.[0]?.name === 'Extractor'), 'the extractor was asked')
  t.strictSame(ofType(events, 'tool-input-complete'), [], 'what its steps call is not shown')
})

t.test('the extractor answers with an object of its shape', async (t) => {
  const { responseFormat } = (await checkout()).find('extractor') ?? {}
  if (responseFormat === undefined) return t.fail('has a format')
  const events = await run('extractor', 'I would like to order 3 lamps', { mode: 'headless', response: { schema: toJsonSchema(responseFormat), check: compileSchema(responseFormat) } })
  const text = ofType(events, 'text-delta').map(({ delta }) => delta).join('')
  t.match(compileSchema(responseFormat)(JSON.parse(text)), { ok: true, value: { category: 'order' } })
})

async function checkout (): Promise<LoadedRegistry> {
  return loadRegistry({ config: loadConfig({ OFFLINE_WORD_DELAY_MS: '0' }), cwd: process.cwd(), env: {} })
}

async function run (key: string, content: string, more: Partial<RunInput> = {}): Promise<RunEventBody[]> {
  const registry = await checkout()
  const agent = registry.find(key)
  if (agent === undefined) throw new Error(`no agent ${key}`)
  const input: RunInput = { runId: 'run', messageId: 'message', threadId: undefined, agent, principal: anonymous, metadata: {}, history: [{ role: 'user', content }], mode: 'chat', useTools: true, canSuspend: true, ...more }
  const events: RunEventBody[] = []
  const log: RunLogger = { debug () {}, info () {}, warn () {}, error () {}, child: () => log }
  for await (const batch of runAgent(input, { models: registry.models, agents: registry, permissions: registry.permissions, log, toolOutputLimit: 0, subagentDigestLimit: 0, approvalTtlMs: 60_000 }, new AbortController().signal)) events.push(...batch)
  return events
}

function outputOf (events: readonly RunEventBody[], toolName: string): unknown {
  const call = ofType(events, 'tool-input-complete').find((event) => event.toolName === toolName)
  return ofType(events, 'tool-output').find((event) => event.callId === call?.callId)?.output
}

function ofType<T extends RunEventType> (events: readonly RunEventBody[], type: T): RunEventOf<T>[] {
  return events.filter((event): event is RunEventOf<T> => event.type === type)
}
