import t from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { until } from '../helpers/app.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, sameAfterReload, seen, startCaseService, unfinished } from './case-service.ts'

// Both of two calls, of whichever tools come first, are tasks.
const upstream = await startCasesUpstream(t, { ARGS0: '{"task":"Go on."}', ARGS1: '{"task":"Go on."}' })
const control = caseAgent(controlCase)

/** A model that calls the first tool it has, for ever. */
const restless = (key: string, agents: string[], more = {}) => ({ ...caseAgent('M01'), key, agents, ...more })

t.test('T03: agents that ask each other and themselves without end are bounded in depth and in all', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [restless('a', ['a', 'b'], { maxDepth: 1 }), restless('b', ['b', 'a', 'c']), restless('c', ['a']), control] })
  const threadId = newThreadId()
  const reply = await service.ask(threadId, 'Go', { agentId: 'a' })
  const answer = await sameAfterReload(t, service, threadId, reply)
  const refusals = answer.parts.filter(({ type, errorText }) => type === 'tool-c' && /nested 1 deep/.test(String(errorText)))
  t.ok(refusals.length > 0, 'a level too deep is an error of the call')
  // Where it is offered nothing, this model calls "echo".
  t.strictSame([...new Set(seen(answer).calls.map(({ name }) => name))].filter((name) => name !== 'echo'), ['b', 'c'], 'nobody is asked who waits further up')
  t.ok(seen(answer).text.length > 0, 'and the user is told something')
  t.equal(answer.metadata.status, 'completed')
  t.strictSame(unfinished(answer), [])
  const requests = await service.requests()
  t.ok(requests.length <= 4 + 3 * 6, `${requests.length} requests`)
  await nextMessageWorks(t, service, threadId)
})

t.test('T03: with the deepest nesting allowed, the number of members ends it', async (t) => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  const service = await startCaseService(t, upstream, { agents: [...keys.map((key) => restless(key, keys, { maxDepth: 9, maxMemberCalls: 4 })), control] })
  const threadId = newThreadId()
  const answer = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go', { agentId: 'a' }))
  t.ok(answer.parts.some(({ errorText }) => /No more agents can be asked/.test(String(errorText))))
  t.strictSame(unfinished(answer), [])
  // Three calls, an answer, and a report, of each of the four and their coordinator.
  t.ok((await service.requests()).length <= 5 * 5)
  await nextMessageWorks(t, service, threadId)
})

t.test('T04: a stop reaches a tool and a member whose model speaks without end, and nothing is written later', async (t) => {
  const facts: { begun?: true, abortedAt?: number } = {}
  const sleeps = defineTool({
    name: 'sleeps',
    input: z.looseObject({}),
    execute: async (_, { signal }) => {
      facts.begun = true
      signal.addEventListener('abort', () => { facts.abortedAt = Date.now() })
      await until('the call is aborted', () => signal.aborted, 30_000)
    }
  })
  const service = await startCaseService(t, upstream, { agents: [caseAgent('S25', { tools: [sleeps], agents: ['S43'] }), caseAgent('S43'), control] })
  const threadId = newThreadId()
  const asked = service.ask(threadId, 'Go', { agentId: 'S25' })
  const member = async () => (await service.requests()).find((request) => request.case === 'S43')
  await until('both are at work', async () => facts.begun === true && await member() !== undefined)
  const stoppedAt = Date.now()
  await service.stop(threadId)
  t.ok((facts.abortedAt ?? Infinity) - stoppedAt < 1_000, 'the tool was told')
  await until("the member's provider is let go", async () => (await member())?.closedByClient === true, 1_000)
  const answer = await sameAfterReload(t, service, threadId, await asked)
  t.equal(answer.metadata.status, 'stopped')
  t.strictSame(seen(answer).calls.map(({ state }) => state), ['output-error', 'output-error'])
  t.strictSame(unfinished(answer), [])
  await new Promise((resolve) => { setTimeout(resolve, 300) }) // a write that must not come
  t.strictSame((await service.history(threadId)).at(-1), answer)
  await nextMessageWorks(t, service, threadId)
})
