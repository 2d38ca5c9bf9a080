import t from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../src/agents/agent.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, nothingLeaked, recordedTool, sameAfterReload, seen, startCaseService, unfinished, type HistoryMessage, type RecordedTool, type UpstreamRequest } from './case-service.ts'

interface Outcome {
  readonly id: string
  /** The sentence that is true of the product. */
  readonly holds: string
  readonly status?: 'failed'
  readonly finishReason?: string
  readonly text?: string
  readonly reasoning?: string
  readonly error?: string
  readonly calls?: ReadonlyArray<{ readonly name: string, readonly state: string, readonly input: unknown }>
  /** What the tools were run with, in order. */
  readonly runs?: readonly unknown[]
  /** How often the model was asked. */
  readonly requests?: number
  readonly tools?: readonly RecordedTool[]
  readonly agent?: Partial<AgentDefinition>
  readonly more?: (t: Tap, facts: { answer: HistoryMessage, requests: readonly UpstreamRequest[], tookMs: number }) => void
}

type Tap = Parameters<typeof nothingLeaked>[0]

const first = { text: 'h\u00e9llo \ud83d\ude00 "q" \n x' }
const second = { text: 'second' }
const afterTool = 'AFTER-TOOL'
const echo = () => [recordedTool('echo')]
const ran = (input: unknown, name = 'echo') => ({ name, state: 'output-available', input })
const oneCall = { text: afterTool, calls: [ran(first)], runs: [first], requests: 2 }
const twoCalls = { text: afterTool, calls: [ran(first), ran(second)], runs: [first, second], requests: 2 }
const noParameters = () => [recordedTool('ping', z.object({}))]

const outcomes: readonly Outcome[] = [
  {
    id: 'S01', holds: 'a usage chunk without choices ends a good answer and counts', text: 'Hi',
    more: (t, { answer }) => t.match(answer.metadata.usage, { input: 7, output: 3 })
  },
  { id: 'S02', holds: 'calls without an index stay apart', ...twoCalls },
  { id: 'S04', holds: 'a call without an id gets one', ...oneCall, more: (t, { answer }) => t.not(answer.parts.find((part) => part.type === 'tool-echo')?.['toolCallId'], '') },
  { id: 'S05b', holds: 'a call whose name comes late runs under it', ...oneCall },
  { id: 'S06', holds: 'empty arguments are no arguments', text: afterTool, tools: noParameters(), calls: [ran({}, 'ping')], runs: [{}], requests: 2, more: sentEmptyArguments },
  { id: 'S06b', holds: 'absent arguments are no arguments', text: afterTool, tools: noParameters(), calls: [ran({}, 'ping')], runs: [{}], requests: 2, more: sentEmptyArguments },
  { id: 'S09', holds: 'characters cut apart on the way arrive whole', text: '\u65e5\u672c\u8a9e \ud83d\ude00 \u00e9' },
  { id: 'S10', holds: 'calls run although the model said stop', ...oneCall },
  { id: 'S10b', holds: 'calls run although the model gave no reason', ...oneCall },
  { id: 'S12', holds: 'reasoning_content is reasoning', text: 'Answer', reasoning: 'THINK-1 THINK-2' },
  { id: 'S12b', holds: 'reasoning is reasoning', text: 'Answer', reasoning: 'THINK-1' },
  { id: 'S14', holds: 'a refusal is shown', text: 'I cannot help with that.' },
  { id: 'S15', holds: 'a missing [DONE] is no error', text: 'Hi' },
  { id: 'S17', holds: 'CRLF frames are read', text: 'Hi' },
  { id: 'S18', holds: 'comments are not part of an answer', text: 'Hi' },
  { id: 'S19', holds: 'an error inside a good stream is an error', status: 'failed', finishReason: 'error', error: 'configuration_error' },
  { id: 'S19c', holds: 'a bare error text inside a good stream is an error', status: 'failed', finishReason: 'error', error: 'provider_unavailable', requests: 3 },
  {
    id: 'S20', holds: 'the time a provider asks for is waited', text: 'Second try', requests: 2,
    more: (t, { tookMs, requests }) => {
      t.ok(tookMs >= 1_900 && tookMs < 6_000, `took ${tookMs} ms`)
      t.ok((requests[1]?.t ?? 0) - (requests[0]?.t ?? 0) >= 1_900)
    }
  },
  { id: 'S21', holds: 'a reset in mid-answer keeps what was said', status: 'failed', finishReason: 'error', text: 'Half an answer', error: 'provider_unavailable', requests: 1 },
  { id: 'S21b', holds: 'a reset before the answer is tried again', status: 'failed', finishReason: 'error', error: 'provider_unavailable', requests: 3 },
  {
    id: 'S22', holds: 'a silent provider is given up', status: 'failed', finishReason: 'error', text: 'Half', error: 'provider_timeout', requests: 1,
    agent: { timeouts: { firstTokenMs: 5_000, idleMs: 300 } }, more: (t, { tookMs }) => t.ok(tookMs < 3_000, `took ${tookMs} ms`)
  },
  { id: 'S24', holds: 'an empty answer does not pass for a good one', status: 'failed', finishReason: 'error', error: 'provider_unavailable' },
  {
    id: 'S25', holds: 'interleaved calls keep their own arguments', text: afterTool, tools: [recordedTool('one'), recordedTool('two')],
    calls: [ran(first, 'one'), ran(second, 'two')], runs: [first, second], requests: 2
  },
  { id: 'S27', holds: 'a call of no tool is told to the model', text: 'Recovered', calls: [{ name: 'no_such_tool', state: 'output-error', input: {} }], runs: [], requests: 2 },
  { id: 'S28', holds: 'unreadable arguments are told to the model', text: 'Recovered', calls: [{ name: 'echo', state: 'output-error', input: '{"text": "a" "b"}' }], runs: [], requests: 2 },
  {
    id: 'S30', holds: 'a call id used twice names two calls', ...twoCalls, requests: 3,
    more: (t, { answer }) => t.equal(new Set(answer.parts.flatMap((part) => part['toolCallId'] ?? [])).size, 2)
  },
  { id: 'S31', holds: 'a filtered answer keeps its text and says so', text: 'Part', finishReason: 'content-filter', error: 'content_filtered' },
  { id: 'S31b', holds: 'an answer filtered to nothing says so', finishReason: 'content-filter', error: 'content_filtered' },
  { id: 'S34', holds: 'a web page is no answer', status: 'failed', finishReason: 'error', error: 'provider_unavailable', requests: 3 },
  { id: 'S34b', holds: 'a whole JSON answer is read', text: 'Whole' },
  { id: 'S34c', holds: 'a bad gateway is tried again and not quoted', status: 'failed', finishReason: 'error', error: 'provider_unavailable', requests: 3 },
  { id: 'S35', holds: 'a refused key is not quoted', status: 'failed', finishReason: 'error', error: 'configuration_error', requests: 1 },
  { id: 'S38', holds: 'an unreadable chunk keeps what was said before it', status: 'failed', finishReason: 'error', text: 'Hi', error: 'provider_unavailable' }
]

const upstream = await startCasesUpstream(t)

for (const { id, holds, status = 'completed', finishReason = 'stop', text = '', reasoning = '', error, calls = [], runs = [], requests = 1, tools = echo(), agent = {}, more } of outcomes) {
  t.test(`${id}: ${holds}`, async (t) => {
    const offered = tools.map(({ tool }) => tool)
    const service = await startCaseService(t, upstream, { agents: [caseAgent(id, { tools: offered, ...agent }), caseAgent(controlCase, { tools: offered })] })
    const threadId = newThreadId()
    const begun = Date.now()
    const reply = await service.ask(threadId, 'The first message', { agentId: id })
    const tookMs = Date.now() - begun

    t.equal(reply.status, 200)
    const answer = await sameAfterReload(t, service, threadId, reply)
    t.strictSame(seen(answer), { text, reasoning, errors: error === undefined ? [] : [error], calls })
    t.match(answer.metadata, { status, finishReason })
    t.strictSame(unfinished(answer), [], 'nothing is left running')
    t.equal(reply.chunks.filter(({ type }) => type === 'error').length, status === 'failed' ? 1 : 0)
    t.strictSame(tools.flatMap(({ inputs }) => inputs), runs)
    const asked = await service.requests()
    t.equal(asked.length, requests, 'requests to the model')
    t.ok(asked.every(({ auth }) => auth))
    more?.(t, { answer, requests: asked, tookMs })

    const context = await nextMessageWorks(t, service, threadId)
    t.strictSame(context.filter(({ role }) => role === 'user').map(({ content }) => content), ['The first message', 'And the next message?'], 'the model has the context')
    t.strictSame((await service.history(threadId)).map(({ role }) => role), ['user', 'assistant', 'user', 'assistant'])
    await nothingLeaked(t, service, threadId, [reply])
  })
}

function sentEmptyArguments (t: Tap, { requests }: { requests: readonly UpstreamRequest[] }): void {
  t.strictSame(requests.at(-1)?.body.messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.arguments)), ['{}'])
}
