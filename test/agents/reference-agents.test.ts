import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { loadRegistry } from '../../src/agents/load-registry.ts'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { getJson, post, textIn, userMessage, type Streamed } from '../helpers/app.ts'
import { testDatabaseUrl } from '../helpers/databases.ts'
import { foreignLine, missingLine, readPage } from './page.ts'

const curlHome = t.testdir({ data: {}, '.curlrc': 'fail-with-body\nsilent\nshow-error\n' }) // an HTTP error is a failure
const files = (await readdir('agents', { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name).sort()
const config = loadConfig({ OFFLINE_WORD_DELAY_MS: '0', DATA_DIR: `${curlHome}/data` })
const registry = await loadRegistry({ config, cwd: process.cwd(), env: {} })
const app = await buildApp({ config, agents: registry, models: registry.models, database: await openDatabase({ url: await testDatabaseUrl(t) }) })
t.teardown(() => app.close())
const url = await app.listen({ host: '127.0.0.1', port: 0 })

t.test('the configuration of the checkout loads without a warning, with the assistant as its default', async (t) => {
  t.strictSame(registry.warnings, [])
  t.equal(registry.defaultAgent()?.key, 'assistant')
  t.strictSame([...new Set(registry.all().map(({ model }) => model))], ['offline'])
  t.strictSame((await getJson(`${url}/v1/agents`)).items.map(({ key }: { key: string }) => key), files.map((file) => file.replace(/\.\w+$/, '')), 'every file has the agent it is named for, and its members are hidden')
})

t.test('docs/agents.md lists every reference agent with its page', async (t) => {
  const page = await readFile('docs/agents.md', 'utf8')
  const listed = [...page.matchAll(/^\| `agents\/([\w.-]+)` \| .*?\]\(agents\/([\w-]+)\.md\)/gm)].map(([, file, name]) => [file, name])
  t.strictSame(listed.sort(), files.map((file) => [file, file.replace(/\.\w+$/, '')]))
  t.strictSame((await readdir('docs/agents')).filter((name) => name !== 'features.md').sort(), files.map((file) => file.replace(/\.\w+$/, '.md')))
})

for (const file of files) {
  t.test(`the page of agents/${file} shows its lines, and its commands do what it says`, async (t) => {
    const text = await readFile(`docs/agents/${file.replace(/\.\w+$/, '.md')}`, 'utf8')
    const { excerpt, trials } = readPage(text)
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)/g)) t.ok(existsSync(join('docs/agents', target)), target)
    t.not(excerpt, '')
    t.equal(foreignLine(excerpt, await sourceOf(file)), undefined)
    t.ok(trials.length > 0)
    for (const { commands, answer } of trials) {
      const output = await inShell(commands)
      if (!t.equal(missingLine(answer, output), undefined, commands)) t.comment(output)
    }
  })
}

t.test('the assistant rolls dice, and tells the time where there is such a place', async (t) => {
  const { rolls, total } = outputOf(await say('assistant', 'Please roll dice with 20 sides'), 'roll_dice') as { rolls: number[], total: number }
  t.ok(rolls.length === 1 && rolls.every((roll) => Number.isInteger(roll) && roll >= 1 && roll <= 20), `${rolls}`)
  t.equal(total, rolls[0])
  const before = Date.now()
  const { utc } = outputOf(await say('assistant', 'What does get_time say?'), 'get_time') as { utc: string }
  t.ok(Date.parse(utc) >= before && Date.parse(utc) <= Date.now(), utc)
  t.match(outputOf(await say('assistant', 'get_time with timeZone: Europe/Berlin'), 'get_time'), { timeZone: 'Europe/Berlin', local: /CES?T|GMT\+[12]/ })
  t.match(outputOf(await say('assistant', 'get_time with timeZone: Mars/Base'), 'get_time'), { problem: 'There is no time zone "Mars/Base".' })
})

t.test('what an agent looks for and does not find is told to its model', async (t) => {
  t.match(outputOf(await say('librarian', 'find_book query: knitting'), 'find_book'), { found: 0, books: [] })
  t.match(outputOf(await say('shop-desk', 'Ask the stock clerk about chairs'), 'stock_clerk'), /no such product\. There are: kettle, lamp, rug/)
  t.match(outputOf(await say('deep-research', 'Ask the researcher about trains'), 'researcher'), /"articles":\[\]/)
  t.strictSame(outputOf(await say('refunds', 'Refund order 9999'), 'refund_order'), { problem: 'There is no order 9999.' })
})

t.test('the shop desk makes what is bought in numbers cheaper, and works for both clerks in one step', async (t) => {
  t.match(outputOf(await say('shop-desk', 'Ask the price clerk about 2 lamps'), 'quote_price'), { count: 2, total: 96 })
  const { chunks } = await say('shop-desk', 'Ask the stock clerk about rugs and the price clerk about 10 rugs')
  t.equal(chunks.filter(({ type }) => type === 'start-step').length, 2)
  t.strictSame(chunks.flatMap(({ providerMetadata }) => (providerMetadata as { parley?: { agent?: string } } | undefined)?.parley?.agent ?? []).sort(), ['Price clerk', 'Stock clerk'])
})

t.test('the researcher is asked what the plan says, and its report has its sources', async (t) => {
  const reply = await say('deep-research', 'Ask the researcher about each: who lit the lighthouse; how high the wall is')
  t.strictSame(outputOf(reply, 'make_plan'), { questions: ['who lit the lighthouse', 'how high the wall is'] })
  t.match(textIn(reply), /a1.*Sources consulted: - search_archive.*a4.*Sources consulted: - search_archive/s)
})

t.test('a small refund is made at once, a denied one never', async (t) => {
  t.strictSame(outputOf(await say('refunds', 'Refund order 1002'), 'refund_order'), { order: '1002', refunded: 12.5 })
  t.strictSame(outputOf(await say('refunds', 'Look up order 1001'), 'look_up_order'), { item: 'brass lamp', paid: 48 })
  await say('refunds', 'Refund order 1001', 'refund-denied')
  const { items: [{ id }] } = await getJson(`${url}/v1/threads/refund-denied/approvals`)
  const { body } = await post(`${url}/v1/approvals/${id}`, { approved: false, reason: 'too late' })
  const { chunks } = await chunksUntilEnd(JSON.parse(body).resumedRunId)
  t.match(chunks.find(({ type }) => type === 'tool-denied'), { reason: 'too late' })
  t.notOk(chunks.some(({ type }) => type === 'tool-output'))
})

t.test('the briefing shows nothing of what its steps call, and asks the extractor', async (t) => {
  const { chunks } = await say('briefing', 'Books on astronomy, and an order of 3 lamps', 'briefing-usage')
  t.equal(chunks.filter(({ type }) => type === 'finish-step').length, 3)
  t.notOk(chunks.some(({ type }) => type.startsWith('tool-')))
  t.match(await getJson(`${url}/v1/threads/briefing-usage/usage`), { items: { length: 2 } }, 'its own calls and those of the extractor')
})

async function sourceOf (file: string): Promise<string> {
  const tools = (await readdir('agents/tools')).map((name) => `agents/tools/${name}`)
  return (await Promise.all([`agents/${file}`, ...tools].map((path) => readFile(path, 'utf8')))).join('\n')
}

async function inShell (commands: string): Promise<string> {
  const env = { PATH: process.env.PATH, CURL_HOME: curlHome }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands.replaceAll('http://127.0.0.1:3000', url)], { env, timeout: 30_000 })
  return stdout
}

let threads = 0

function say (agentId: string, text: string, threadId = `reference-${threads++}`): Promise<Streamed> {
  return post(`${url}/v1/threads/${threadId}/messages`, { agentId, message: userMessage(text) })
}

async function chunksUntilEnd (runId: string): Promise<Pick<Streamed, 'chunks'>> {
  const body = await (await fetch(`${url}/v1/runs/${runId}/events`)).text()
  return { chunks: body.split('\n').filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice('data: '.length))) }
}

function outputOf ({ chunks }: Pick<Streamed, 'chunks'>, toolName: string): unknown {
  const call = chunks.find((chunk) => chunk.type === 'tool-input-available' && chunk['toolName'] === toolName)
  return chunks.find((chunk) => chunk.type === 'tool-output-available' && chunk['toolCallId'] === call?.['toolCallId'])?.['output']
}
