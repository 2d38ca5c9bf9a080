import t from 'tap'
import { noUsage } from '../../../src/events/usage.ts'
import type { MessagePart } from '../../../src/messages/parts.ts'
import type { TurnRequest } from '../../../src/messages/turn-request.ts'
import type { StoredSuspension } from '../../../src/runs/answer-suspension.ts'
import { decideLetGo, decideTurn, lookupOf } from '../../../src/runs/decide-turn.ts'
import type { TurnView } from '../../../src/runs/turn-store.ts'
import type { Message } from '../../../src/threads/message.ts'
import { runOf } from '../../helpers/memory-turns.ts'
import { answered, question, viewOf } from './conversation.ts'

const ids = { runId: 'new-run', userMessageId: 'new-question', answerId: 'new-answer' }
const settings = { agentId: 'agent-1', model: 'test:model', holder: 'h', leaseUntil: new Date(0), metadata: { a: 1 } }

const q1 = question('q1', undefined, 'one')
const a1 = answered('a1', 'q1', 'first')
const q2 = question('q2', 'a1', 'two')
const a2 = answered('a2', 'q2', 'second')
const path = [q1, a1, q2, a2]

const waiting: MessagePart[] = [{ type: 'text', text: 'Asking', state: 'done' }, ...['c1', 'c2'].map((toolCallId): MessagePart => ({ type: 'tool-ask', toolCallId, state: 'input-available', input: {} }))]
const suspended: Message = { ...a2, status: 'suspended', parts: waiting }
const suspendedPath = [q1, a1, q2, suspended]
const goneOn: Message = { ...a2, parts: [{ type: 'tool-ask', toolCallId: 'c1', state: 'output-available', input: {}, output: 1 }, { type: 'step-start' }, { type: 'text', text: 'Then', state: 'done' }] }
const suspendedRun = runOf({ id: 'waiting-run', messageId: 'a2', status: 'suspended' })
const suspension: StoredSuspension = {
  checkpoint: {
    root: {
      agentId: 'agent-1', path: [], messages: [], step: 1, toolCalls: 0, reminders: 0, calledTools: [], text: 'Asking', reasoning: [], calls: [], results: [],
      waiting: ['c1', 'c2'].map((callId) => ({ kind: 'client', callId }))
    },
    usage: noUsage,
    memberCalls: 0,
    metadata: {}
  },
  approvals: []
}
const runningRun = runOf({ id: 'busy-run', messageId: 'a2', status: 'running' })

const words = (text: string): MessagePart[] => [{ type: 'text', text }]
const message = (text: string, more: object = {}): TurnRequest => ({ kind: 'message', parts: words(text), ...more })
const outputs = (...given: object[]): TurnRequest => ({ kind: 'answers', messageId: 'a2', outputs: given as never, verdicts: [] }) // as a client may send them
const unnamed = (...given: object[]): TurnRequest => ({ kind: 'answers', outputs: given as never, verdicts: [] }) // as a client may send them
const find = (found: Message, view: TurnView): TurnView => ({ ...view, found, foundPath: view.path.slice(0, view.path.findIndex(({ id }) => id === found.id) + 1) })
const contextIds = (ids: string[]) => ids.map((id) => ({ id }))
const newAnswer = (parentId: string) => ({ id: 'new-answer', parentId, role: 'assistant', status: 'streaming', parts: [], model: 'test:model' })
const replayOf = (id: string) => ({ messages: [], run: undefined, result: { kind: 'replay', message: { id } } })
const runsOn = (context: string[]) => ({ kind: 'run', runId: 'new-run', messageId: 'new-answer', context: contextIds(context), continues: undefined })

interface Case { readonly name: string, readonly view: TurnView, readonly request: TurnRequest, readonly plan?: object, readonly error?: object }

const cases: Case[] = [
  {
    name: 'the first message makes the thread',
    view: viewOf([], { thread: undefined }), request: message('hi', { id: 'mine' }),
    plan: {
      createThread: { agentId: 'agent-1', metadata: { a: 1 } },
      messages: [{ id: 'mine', parentId: undefined, role: 'user', status: 'completed', parts: words('hi') }, newAnswer('mine')],
      run: { id: 'new-run', messageId: 'new-answer', holder: 'h' }, result: runsOn(['mine'])
    }
  },
  {
    name: 'a message without an id gets one and goes under the head',
    view: viewOf(path), request: message('three'),
    plan: { createThread: undefined, messages: [{ id: 'new-question', parentId: 'a2' }, newAnswer('new-question')], endRun: undefined, result: runsOn(['q1', 'a1', 'q2', 'a2', 'new-question']) }
  },
  {
    name: 'an edit is a sibling with a row of its own that keeps the client\'s id',
    view: find(q2, viewOf(path)), request: message('two, edited', { id: 'q2', replaces: 'q2' }),
    plan: { messages: [{ id: 'new-question', clientId: 'q2', parentId: 'a1', parts: words('two, edited') }, newAnswer('new-question')], result: runsOn(['q1', 'a1', 'new-question']) }
  },
  {
    name: 'an edit of an edit keeps the client\'s id too',
    view: find({ ...q2, clientId: 'theirs' }, viewOf(path)), request: message('again', { replaces: 'theirs' }),
    plan: { messages: [{ id: 'new-question', clientId: 'theirs', parentId: 'a1' }, {}] }
  },
  {
    name: 'an edit of a message that is not known is a new one with that id',
    view: viewOf([]), request: message('hi', { replaces: 'unknown-1' }),
    plan: { messages: [{ id: 'unknown-1', clientId: undefined }, newAnswer('unknown-1')] }
  },
  {
    name: 'an edit of an older question to the same words is a branch, not a repetition',
    view: find(q1, viewOf(path)), request: message('one', { replaces: 'q1' }),
    plan: { messages: [{ id: 'new-question', clientId: 'q1', parentId: undefined }, newAnswer('new-question')], result: runsOn(['new-question']) }
  },
  { name: 'the same message while it is answered attaches', view: find(q2, viewOf(path, { activeRun: runningRun })), request: message('two', { id: 'q2' }), plan: { messages: [], result: { kind: 'attach', run: { id: 'busy-run' }, from: 'start' } } },
  { name: 'the same message after its answer replays it', view: find(q2, viewOf(path)), request: message('two', { id: 'q2' }), plan: replayOf('a2') },
  { name: 'an older message again replays its own answer', view: find(q1, viewOf(path)), request: message('one', { id: 'q1' }), plan: replayOf('a1') },
  { name: 'the same message whose answer was stopped replays what was said', view: find(q2, viewOf([q1, a1, q2, { ...a2, status: 'stopped' }])), request: message('two', { id: 'q2' }), plan: replayOf('a2') },
  { name: 'the same message whose answer waits replays it', view: find(q2, viewOf(suspendedPath, { activeRun: suspendedRun, suspension })), request: message('two', { id: 'q2' }), plan: replayOf('a2') },
  ...(['failed', 'interrupted', 'streaming'] as const).map((status): Case => ({
    name: `the same message whose answer is ${status} is answered anew under the same question`,
    view: find(q2, viewOf([q1, a1, q2, { ...a2, status }])), request: message('two', { id: 'q2' }),
    plan: { messages: [newAnswer('q2')], result: runsOn(['q1', 'a1', 'q2']) }
  })),
  { name: 'the same message whose answer was discarded is answered anew', view: find(q2, viewOf([q1, a1, q2])), request: message('two', { id: 'q2' }), plan: { messages: [newAnswer('q2')] } },
  { name: 'other words under a known id are a conflict', view: find(q2, viewOf(path)), request: message('else', { id: 'q2' }), error: { code: 'conflict', details: { issues: [{ path: 'id' }] } } },
  { name: 'the id of an answer is a conflict', view: find(a2, viewOf(path)), request: message('two', { id: 'a2' }), error: { code: 'conflict' } },
  { name: 'the same words under an id of another branch are a conflict', view: viewOf(path, { found: question('q9', 'a1', 'nine'), foundPath: [q1, a1, question('q9', 'a1', 'nine')] }), request: message('nine', { id: 'q9' }), error: { code: 'conflict' } },
  { name: 'another message while a run is running is refused with its id', view: viewOf(path, { activeRun: runningRun }), request: message('three'), error: { code: 'thread_busy', details: { runId: 'busy-run' } } },
  {
    name: 'a new message supersedes what is waited for',
    view: viewOf(suspendedPath, { activeRun: suspendedRun, suspension }), request: message('never mind'),
    plan: {
      endRun: { id: 'waiting-run', messageId: 'a2', status: 'stopped', parts: [{}, { toolCallId: 'c1', state: 'output-error', errorText: 'superseded' }, { state: 'output-error' }] },
      result: { context: [{ id: 'q1' }, { id: 'a1' }, { id: 'q2' }, { id: 'a2', parts: [{}, { errorText: 'superseded' }, {}] }, { id: 'new-question' }] }
    }
  },
  {
    name: 'a suspended message that is out of reach is ended without its parts',
    view: viewOf([q1], { activeRun: suspendedRun }), request: message('go on'),
    plan: { endRun: { id: 'waiting-run', parts: undefined, status: 'stopped' } }
  },

  { name: 'another answer to the newest question is a sibling of the old one', view: viewOf(path), request: { kind: 'regenerate' }, plan: { messages: [newAnswer('q2')], result: runsOn(['q1', 'a1', 'q2']) } },
  { name: 'another answer to a question that has none', view: viewOf([q1]), request: { kind: 'regenerate' }, plan: { messages: [newAnswer('q1')] } },
  { name: 'another answer in place of an older one', view: find(a1, viewOf(path)), request: { kind: 'regenerate', messageId: 'a1' }, plan: { messages: [newAnswer('q1')], result: runsOn(['q1']) } },
  { name: 'another answer to an older question', view: find(q1, viewOf(path)), request: { kind: 'regenerate', messageId: 'q1' }, plan: { messages: [newAnswer('q1')], result: runsOn(['q1']) } },
  { name: 'another answer supersedes what is waited for', view: viewOf(suspendedPath, { activeRun: suspendedRun, suspension }), request: { kind: 'regenerate' }, plan: { messages: [newAnswer('q2')], endRun: { id: 'waiting-run', status: 'stopped' } } },
  { name: 'another answer while a run is running is refused', view: viewOf(path, { activeRun: runningRun }), request: { kind: 'regenerate' }, error: { code: 'thread_busy' } },
  { name: 'another answer in no thread', view: viewOf([], { thread: undefined }), request: { kind: 'regenerate' }, error: { code: 'not_found' } },
  { name: 'another answer in place of an unknown one', view: viewOf(path), request: { kind: 'regenerate', messageId: 'unknown' }, error: { code: 'not_found' } },
  { name: 'another answer where nothing was asked', view: viewOf([]), request: { kind: 'regenerate' }, error: { code: 'invalid_request', details: { issues: [{ path: 'messageId' }] } } },

  {
    name: 'all answers of a client let the message go on',
    view: find(suspended, viewOf(suspendedPath, { activeRun: suspendedRun, suspension })), request: outputs({ callId: 'c1', output: 1 }, { callId: 'c2', errorText: 'no' }),
    plan: {
      messages: [], continueMessage: { id: 'a2', status: 'streaming', parts: [{}, { output: 1 }, { errorText: 'no' }] },
      endRun: { id: 'waiting-run', parts: undefined, status: 'completed' }, run: { id: 'new-run', messageId: 'a2' },
      result: { kind: 'run', messageId: 'a2', context: [{ id: 'q1' }, { id: 'a1' }, { id: 'q2' }], continues: { parts: [{}, { output: 1 }, {}], resume: { outputs: new Map([['c1', { output: 1 }], ['c2', { errorText: 'no' }]]) } } }
    }
  },
  {
    name: 'some answers are kept, and the message waits for the others',
    view: find(suspended, viewOf(suspendedPath, { activeRun: suspendedRun, suspension })), request: outputs({ callId: 'c2', output: 2 }),
    plan: { continueMessage: { id: 'a2', status: 'suspended', parts: [{}, { state: 'input-available' }, { output: 2 }] }, endRun: undefined, ...replayOf('a2') }
  },
  { name: 'forged answers change nothing', view: find(suspended, viewOf(suspendedPath, { activeRun: suspendedRun, suspension })), request: outputs({ callId: 'other', output: 'x' }), plan: { continueMessage: { status: 'suspended', parts: waiting }, run: undefined } },
  { name: 'answers that come late, after the message went on, attach to it', view: find({ ...a2, status: 'streaming' }, viewOf(path, { activeRun: runningRun })), request: outputs({ callId: 'c1', output: 1 }), plan: { messages: [], run: undefined, result: { kind: 'attach', run: { id: 'busy-run' }, from: 'continuation' } } },
  {
    name: 'answers that a message took before, given again when it is over, replay what came after them',
    view: find(goneOn, viewOf([q1, a1, q2, goneOn])), request: outputs({ callId: 'c1', output: 1 }),
    plan: { continueMessage: undefined, messages: [], run: undefined, result: { kind: 'replay', message: { id: 'a2' }, heldParts: 1 } }
  },
  { name: 'answers to a message that is over and said nothing after them are a conflict', view: find(a2, viewOf(path)), request: outputs({ callId: 'c1', output: 1 }), error: { code: 'conflict' } },
  {
    name: 'answers that name no message are the newest answer\'s',
    view: viewOf(suspendedPath, { activeRun: suspendedRun, suspension }), request: unnamed({ callId: 'c1', output: 1 }, { callId: 'c2', output: 2 }),
    plan: { continueMessage: { id: 'a2', status: 'streaming' }, endRun: { id: 'waiting-run' }, result: { kind: 'run', messageId: 'a2', context: contextIds(['q1', 'a1', 'q2']) } }
  },
  { name: 'answers that name no message, after another question, are a conflict', view: viewOf([...suspendedPath, question('q3', 'a2', 'three'), answered('a3', 'q3', 'third')]), request: unnamed({ callId: 'c1', output: 1 }), error: { code: 'conflict' } },
  { name: 'answers that name no message, where nothing was answered', view: viewOf([q1]), request: unnamed({ callId: 'c1', output: 1 }), error: { code: 'not_found' } },
  { name: 'answers in no thread', view: viewOf([], { thread: undefined }), request: outputs(), error: { code: 'not_found' } },
  { name: 'answers to an unknown message', view: viewOf(path), request: outputs(), error: { code: 'not_found' } },
  { name: 'answers to a question', view: find(q2, viewOf(path)), request: outputs(), error: { code: 'not_found' } }
]

for (const { name, view, request, plan, error } of cases) {
  t.test(`decided: ${name}`, async (t) => {
    if (error !== undefined) {
      t.throws(() => decideTurn(view, request, ids, settings), error as Error)
      return
    }
    const before = JSON.stringify(view)
    const decided = decideTurn(view, request, ids, settings)
    t.match(decided, plan)
    const { messages } = plan as { messages?: unknown[] }
    if (messages !== undefined) t.equal(decided.messages.length, messages.length)
    t.equal(JSON.stringify(view), before, 'what was seen is not changed')
  })
}

t.test('a context is exactly what was asked for: nothing of another branch is in it', async (t) => {
  const { result } = decideTurn(find(q1, viewOf(path)), { kind: 'regenerate', messageId: 'q1' }, ids, settings)
  t.equal(result.kind === 'run' ? result.context.length : undefined, 1)
})

t.test('letting go ends what is waited for and nothing else', async (t) => {
  t.match(decideLetGo(viewOf(suspendedPath, { activeRun: suspendedRun, suspension })), { endRun: { id: 'waiting-run', status: 'stopped', parts: [{}, { errorText: 'stopped' }, { errorText: 'stopped' }] }, result: 'waiting-run' })
  t.strictSame(decideLetGo(viewOf(path, { activeRun: runningRun })), { messages: [], result: 'busy-run' })
  t.strictSame(decideLetGo(viewOf(path)), { messages: [], result: undefined })
})

t.test('a request is looked up by the id of the message it is about', async (t) => {
  t.equal(lookupOf(message('x')), undefined)
  t.equal(lookupOf(message('x', { id: 'a' })), 'a')
  t.equal(lookupOf(message('x', { id: 'a', replaces: 'b' })), 'b')
  t.equal(lookupOf(outputs()), 'a2')
  t.equal(lookupOf({ kind: 'regenerate' }), undefined)
  t.equal(lookupOf({ kind: 'regenerate', messageId: 'c' }), 'c')
})
