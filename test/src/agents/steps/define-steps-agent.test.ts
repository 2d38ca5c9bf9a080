import t from 'tap'
import { defineAgent } from '../../../../src/agents/agent.ts'
import { askModel } from '../../../../src/agents/steps/ask.ts'
import { defineStepsAgent } from '../../../../src/agents/steps/define-steps-agent.ts'
import { loop } from '../../../../src/agents/steps/loop.ts'
import { contextWith } from './stepping.ts'

t.test('an agent of steps is an agent with a pipeline, whose state has one type all along', async (t) => {
  const agent = defineStepsAgent({
    key: 'report',
    description: 'Writes reports.',
    model: 'offline',
    memory: 'volatile',
    initial: { drafts: 0, text: '' },
    steps: [
      async function * (state) { yield { type: 'state', state: { ...state, drafts: 1 } } },
      loop({ while: ({ drafts }) => drafts < 3, atMost: 5 }, askModel({ question: ({ text }) => ({ messages: text }), into: (state, text) => ({ ...state, text, drafts: state.drafts + 1 }) }))
    ]
  })
  t.match(agent, { kind: 'agent', key: 'report', description: 'Writes reports.', model: 'offline', memory: 'volatile', pipeline: { kind: 'pipeline' } })
  t.ok(Object.isFrozen(agent))
  t.strictSame(agent.pipeline?.initial(contextWith()), { drafts: 0, text: '' })
  t.equal(agent.pipeline?.steps.length, 2)
})

t.test('the first state may be made for each run', async (t) => {
  const agent = defineStepsAgent({
    key: 'report',
    initial: async ({ question }) => ({ topic: question }),
    steps: [async function * ({ topic }) { yield topic.toUpperCase() }]
  })
  t.strictSame(await agent.pipeline?.initial(contextWith({ question: 'rain' })), { topic: 'rain' })
})

t.test('it can be the base of another, and a definition without usable steps is refused', async (t) => {
  const base = defineStepsAgent({ key: 'base', initial: {}, steps: [async function * () { yield 'x' }] })
  t.equal(defineAgent({ ...base, key: 'other' }).pipeline, base.pipeline)
  const refused = { name: 'ZodError', issues: [{ path: ['pipeline'], message: 'expected steps, which are functions, and at least one of them' }] }
  t.throws(() => defineStepsAgent({ key: 'a', initial: {}, steps: [] }), refused)
  // @ts-expect-error: what a file without types may say
  t.throws(() => defineStepsAgent({ key: 'a', initial: {}, steps: ['x'] }), refused)
  // @ts-expect-error: the same
  t.throws(() => defineStepsAgent({ key: 'a', initial: {} }), refused)
  // @ts-expect-error: a pipeline calls its tools by itself
  t.throws(() => defineStepsAgent({ key: 'a b', initial: {}, steps: base.pipeline?.steps, tolls: [] }), { name: 'ZodError', issues: [{ path: ['key'] }, { code: 'unrecognized_keys' }] })
})
