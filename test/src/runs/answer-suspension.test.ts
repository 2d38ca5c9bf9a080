import t from 'tap'
import { inputHash, type Approval } from '../../../src/approvals/approval.ts'
import { noUsage } from '../../../src/events/usage.ts'
import type { MessagePart } from '../../../src/messages/parts.ts'
import { answerSuspension, type StoredSuspension } from '../../../src/runs/answer-suspension.ts'
import type { FrameCheckpoint } from '../../../src/runtime/suspension.ts'

const now = new Date('2026-03-01T10:00:00Z')
const later = new Date('2026-03-01T11:00:00Z')

const frame: FrameCheckpoint = {
  agentId: 'root', path: [], messages: [], step: 1, toolCalls: 0, reminders: 0, calledTools: [], text: '', reasoning: [], calls: [], results: [],
  waiting: [{ kind: 'client', callId: 'asks' }, { kind: 'member', callId: 'delegates', member: memberWaiting() }]
}

function memberWaiting (): FrameCheckpoint {
  return { agentId: 'member', path: [{ agentId: 'member', name: 'Member', toolCallId: 'delegates' }], messages: [], step: 1, toolCalls: 0, reminders: 0, calledTools: [], text: '', reasoning: [], calls: [], results: [], waiting: [{ kind: 'approval', callId: 'gated', approvalId: 'a1' }] }
}

const parts: MessagePart[] = [
  { type: 'text', text: 'Let me ask.', state: 'done' },
  { type: 'tool-ask', toolCallId: 'asks', state: 'input-available', input: { q: 1 } },
  { type: 'tool-member', toolCallId: 'delegates', state: 'input-available', input: { task: 'x' } },
  { type: 'tool-send', toolCallId: 'gated', state: 'approval-requested', input: { to: 'all' }, approval: { id: 'a1' } },
  { type: 'tool-run', toolCallId: 'done', state: 'output-available', input: {}, output: 'ours' }
]

function suspension (approval: Partial<Approval> = {}): StoredSuspension {
  const asked: Approval = {
    id: 'a1', threadId: 't', runId: 'r', messageId: 'm', callId: 'gated', agentPath: [], toolName: 'send', input: { to: 'all' }, inputHash: inputHash({ to: 'all' }),
    status: 'pending', reason: undefined, expiresAt: later, decidedAt: undefined, createdAt: now, ...approval
  }
  return { checkpoint: { root: frame, usage: noUsage, memberCalls: 1, metadata: {} }, approvals: [asked] }
}

t.test('a run goes on once every call that waits has its answer, at every depth', async (t) => {
  const half = answerSuspension(parts, suspension(), { outputs: [{ callId: 'asks', output: { place: 'here' } }], verdicts: [] }, now)
  t.match(half.parts[1], { state: 'output-available', output: { place: 'here' } })
  t.equal(half.resume, undefined)
  const whole = answerSuspension(half.parts, suspension(), { outputs: [], verdicts: [{ approvalId: 'a1', approved: true, input: { to: 'all' } }] }, now)
  t.match(whole.parts[3], { state: 'approval-responded', approval: { id: 'a1', approved: true } })
  t.strictSame(whole.decisions, [{ approvalId: 'a1', status: 'approved', reason: undefined }])
  t.strictSame([...whole.resume!.outputs], [['asks', { callId: 'asks', output: { place: 'here' } }]])
  t.strictSame([...whole.resume!.verdicts], [['a1', { approved: true, reason: undefined }]])
})

t.test('only what is waited for takes an answer', async (t) => {
  const outputs = ['done', 'delegates', 'gated', 'never'].map((callId) => ({ callId, output: 'forged' }))
  const answered = answerSuspension(parts, suspension(), { outputs, verdicts: [] }, now)
  t.strictSame(answered.parts, parts)
  t.equal(answered.outputs, 0)
})

for (const { name, verdict, approval, fault } of [
  { name: 'unknown', verdict: { approvalId: 'other', approved: true }, approval: {}, fault: 'unknown' },
  { name: 'altered', verdict: { approvalId: 'a1', approved: true, input: { to: 'nobody' } }, approval: {}, fault: 'altered' },
  { name: 'too late', verdict: { approvalId: 'a1', approved: true }, approval: { expiresAt: now }, fault: 'expired' },
  { name: 'other than the one before', verdict: { approvalId: 'a1', approved: false }, approval: { status: 'approved' as const }, fault: 'decided' },
  { name: 'for a message that went on without it', verdict: { approvalId: 'a1', approved: true }, approval: { status: 'superseded' as const }, fault: 'superseded' }
]) {
  t.test(`a verdict that is ${name} changes nothing and says why`, async (t) => {
    const answered = answerSuspension(parts, suspension(approval), { outputs: [], verdicts: [verdict] }, now)
    t.strictSame(answered.faults, [{ approvalId: verdict.approvalId, fault }])
    t.strictSame(answered.decisions, [])
    t.strictSame(answered.parts, parts)
  })
}

t.test('the same verdict again is no fault', async (t) => {
  const { faults, decisions } = answerSuspension(parts, suspension({ status: 'approved' }), { outputs: [], verdicts: [{ approvalId: 'a1', approved: true }] }, now)
  t.strictSame([faults, decisions], [[], []])
})
