import { AppError, invalidRequest, notFound, threadBusy } from '../errors.ts'
import { closeParts } from '../messages/close-parts.ts'
import { isToolPart, type MessagePart } from '../messages/parts.ts'
import type { ClientVerdict, TurnRequest } from '../messages/turn-request.ts'
import type { Message } from '../threads/message.ts'
import { answerSuspension, type Answered, type StoredSuspension, type VerdictFault } from './answer-suspension.ts'
import type { Resume } from '../runtime/suspension.ts'
import type { Run, TurnPlan, TurnView } from './turn-store.ts'

/** What a request comes to. */
export type TurnDecision =
  /** A new run, on a context that ends with what it answers. */
  | { readonly kind: 'run', readonly runId: string, readonly messageId: string, readonly context: readonly Message[], readonly continues: Continuation | undefined }
  /** The same request is being answered already. `continuation`: who asks holds what the message said before that run. */
  | { readonly kind: 'attach', readonly run: Run, readonly from: 'start' | 'continuation' }
  /** The same request has been answered already. Who asks holds the first `heldParts` parts of the message. */
  | { readonly kind: 'replay', readonly message: Message, readonly heldParts: number }

/** A further leg of a message that waited. */
export interface Continuation {
  /** What the message says so far, with the answers in it. */
  readonly parts: readonly MessagePart[]
  readonly resume: Resume
}

export interface TurnIds {
  readonly runId: string
  readonly userMessageId: string
  readonly answerId: string
}

export interface TurnSettings {
  readonly agentId: string
  readonly model: string
  readonly holder: string
  readonly leaseUntil: Date
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** The id a request is looked up by before it is decided. */
export function lookupOf (request: TurnRequest): string | undefined {
  switch (request.kind) {
    case 'message': return request.replaces ?? request.id
    case 'answers': return request.messageId
    case 'regenerate': return request.messageId
    default: return request satisfies never
  }
}

/** Pure: what a turn does to the thread it sees. Throws thread_busy, conflict or not_found. */
export function decideTurn (view: TurnView, request: TurnRequest, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  switch (request.kind) {
    case 'message': return decideMessage(view, request, ids, settings)
    case 'answers': return decideAnswers(view, request, ids, settings)
    case 'regenerate': return decideRegenerate(view, request, ids, settings)
    default: return request satisfies never
  }
}

function decideMessage (view: TurnView, request: TurnRequest & { kind: 'message' }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const { found } = view
  const known = found !== undefined && found.role === 'user' ? found : undefined
  if (found !== undefined && known === undefined) throw taken()
  const onPath = known !== undefined && view.path.some((message) => message.id === known.id)

  const newest = view.path.findLast((message) => message.role === 'user')
  const isRepeat = known !== undefined && onPath && sameContent(known.parts, request.parts) && (request.replaces === undefined || known.id === newest?.id)
  if (isRepeat) return repeat(view, known, ids, settings)
  if (known !== undefined && request.replaces === undefined) throw taken()
  if (known !== undefined) {
    // The edited question is a sibling: it keeps the client's id for the client and gets a row of its own.
    const question = newQuestion(ids.userMessageId, known.clientId ?? known.id, known.parentId, request.parts)
    return startRun(view, view.foundPath.slice(0, -1), question, ids, settings)
  }
  const id = request.replaces ?? request.id
  const question = newQuestion(id ?? ids.userMessageId, undefined, view.thread?.headId, request.parts)
  return startRun(view, view.path, question, ids, settings)
}

/** The same message again: a retry, a double click, a reload. Never a second run for an answer that is there or coming. */
function repeat (view: TurnView, question: Message, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const index = view.path.findIndex((message) => message.id === question.id)
  const answer = view.path[index + 1]
  if (view.activeRun !== undefined && view.activeRun.messageId === answer?.id && view.activeRun.status === 'running') {
    return { messages: [], result: { kind: 'attach', run: view.activeRun, from: 'start' } }
  }
  const answered = answer !== undefined && answer.role === 'assistant' && !['failed', 'interrupted', 'streaming'].includes(answer.status)
  if (answered) return { messages: [], result: { kind: 'replay', message: answer, heldParts: 0 } }
  return startRun(view, view.path.slice(0, index + 1), undefined, ids, settings)
}

function decideRegenerate (view: TurnView, request: TurnRequest & { kind: 'regenerate' }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  if (view.thread === undefined) throw notFound('thread')
  if (lookupOf(request) !== undefined && view.found === undefined) throw notFound('message')
  const path = view.found === undefined ? view.path : view.foundPath
  const context = path.at(-1)?.role === 'assistant' ? path.slice(0, -1) : path
  if (context.at(-1)?.role !== 'user') throw invalidRequest('There is no question to answer again.', [{ path: 'messageId', message: 'expected a message that follows a question' }])
  return startRun(view, context, undefined, ids, settings)
}

function decideAnswers (view: TurnView, request: TurnRequest & { kind: 'answers' }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const { activeRun } = view
  const { found, foundPath } = request.messageId === undefined ? newestAnswer(view) : view
  if (view.thread === undefined) throw notFound('thread')
  if (found === undefined || found.role !== 'assistant' || found.deletedAt !== undefined) throw notFound('message')
  if (activeRun?.messageId !== found.id) return { messages: [], result: restOf(found, request) }
  if (activeRun.status === 'running') return { messages: [], result: { kind: 'attach', run: activeRun, from: 'continuation' } }

  const answered = answerSuspension(found.parts, suspensionOf(view), request, new Date())
  // One of them that was tampered with spoils them all; one that is not known may be of an earlier time.
  if (answered.faults.some(({ fault }) => fault === 'altered')) throw refusedVerdict('altered')
  if (answered.decisions.length === 0 && answered.outputs === 0 && answered.faults.some(({ fault }) => fault === 'unknown')) throw refusedVerdict('unknown')
  return goOn(view, { message: found, leading: foundPath.slice(0, -1), answered }, ids, settings)
}

/** Pure: one verdict on one approval of the thread. Throws conflict, whose `details.reason` says why it changes nothing. */
export function decideVerdict (view: TurnView, verdict: ClientVerdict & { readonly expire?: boolean }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision | undefined> {
  const { activeRun, waiting } = view
  if (activeRun?.status !== 'suspended' || waiting === undefined) throw refusedVerdict('superseded')
  const now = verdict.expire === true ? new Date(0) : new Date()
  const answered = answerSuspension(waiting.parts, suspensionOf(view), { outputs: [], verdicts: [verdict] }, now)
  const [fault] = answered.faults
  if (fault !== undefined) throw refusedVerdict(fault.fault)
  if (answered.decisions.length === 0) return { messages: [], result: undefined }
  const decisions = verdict.expire === true ? answered.decisions.map((decision) => ({ ...decision, status: 'expired' as const })) : answered.decisions
  return goOn(view, { message: waiting, leading: view.foundPath.slice(0, -1), answered: { ...answered, decisions } }, ids, settings)
}

/** Keeps the answers, and goes on with the message once it waits for nothing any more. */
function goOn ({ activeRun }: TurnView, { message, leading, answered }: { readonly message: Message, readonly leading: readonly Message[], readonly answered: Answered }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const { parts, decisions, resume } = answered
  if (activeRun === undefined || resume === undefined) {
    const result = { kind: 'replay', message: { ...message, parts }, heldParts: parts.length } as const
    return { messages: [], decisions, continueMessage: { id: message.id, parts, status: 'suspended' }, result }
  }
  return {
    messages: [],
    decisions,
    continueMessage: { id: message.id, parts, status: 'streaming' },
    endRun: { id: activeRun.id, messageId: message.id, parts: undefined, status: 'completed' },
    run: { id: ids.runId, messageId: message.id, agentId: settings.agentId, holder: settings.holder, leaseUntil: settings.leaseUntil },
    result: { kind: 'run', runId: ids.runId, messageId: message.id, context: leading, continues: { parts, resume } }
  }
}

function suspensionOf ({ suspension }: TurnView): StoredSuspension {
  if (suspension === undefined) throw new AppError('conflict', 'What this message waited for is not known any more. Send a new message.')
  return suspension
}

const verdictProblems: Readonly<Record<VerdictFault, string>> = {
  unknown: 'This message does not wait for such an approval.',
  decided: 'This approval has been decided already.',
  expired: 'This approval has expired.',
  superseded: 'This approval is not waited for any more.',
  altered: 'The input is not the one that was asked for, so the verdict does not count.'
}

export function refusedVerdict (fault: VerdictFault): AppError {
  return new AppError('conflict', verdictProblems[fault], { details: { reason: fault } })
}

function newestAnswer ({ path }: TurnView): Pick<TurnView, 'found' | 'foundPath'> {
  const index = path.findLastIndex(({ role }) => role === 'assistant')
  return { found: path[index], foundPath: path.slice(0, index + 1) }
}

/** What a message said after these answers. A client that got nothing new would post them again, without end. */
function restOf (message: Message, { outputs, verdicts }: TurnRequest & { kind: 'answers' }): TurnDecision {
  const { parts, status } = message
  const callIds = new Set(outputs.map(({ callId }) => callId))
  const approvals = new Set(verdicts.map(({ approvalId }) => approvalId))
  const lastCall = parts.findLastIndex((part) => isToolPart(part) && (callIds.has(part.toolCallId) || approvals.has(part.approval?.id ?? '')))
  const next = parts.findIndex((part, index) => index > lastCall && part.type === 'step-start')
  const hasRest = lastCall !== -1 && next !== -1 && (status === 'completed' || status === 'stopped')
  if (!hasRest) throw new AppError('conflict', 'This message does not wait for these answers any more.', { details: { reason: 'superseded' } })
  return { kind: 'replay', message, heldParts: next }
}

// What a pending call is answered with when the user goes on without it.
const superseded = 'superseded'

type Question = TurnPlan<never>['messages'][number]

/** A run answering `question`, or the last message of `context` where that is not new. */
function startRun (view: TurnView, context: readonly Message[], question: Question | undefined, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const { activeRun } = view
  if (activeRun?.status === 'running') throw threadBusy(activeRun.id)
  const parentId = question?.id ?? context.at(-1)?.id
  const answer: Question = { id: ids.answerId, parentId, role: 'assistant', parts: [], status: 'streaming', model: settings.model }
  const settled = context.map((message) => message.id === activeRun?.messageId ? { ...message, parts: closeParts(message.parts, superseded) } : message)
  return {
    createThread: view.thread === undefined ? { agentId: settings.agentId, metadata: settings.metadata } : undefined,
    messages: question === undefined ? [answer] : [question, answer],
    endRun: activeRun === undefined ? undefined : endSuspended(view, activeRun, superseded),
    run: { id: ids.runId, messageId: ids.answerId, agentId: settings.agentId, holder: settings.holder, leaseUntil: settings.leaseUntil },
    result: {
      kind: 'run',
      runId: ids.runId,
      messageId: ids.answerId,
      context: question === undefined ? settled : [...settled, asMessage(question)],
      continues: undefined
    }
  }
}

/** Pure: ends what the thread waits for, its pending calls answered as stopped. The id of that run. */
export function decideLetGo (view: TurnView): TurnPlan<string | undefined> {
  const { activeRun } = view
  if (activeRun?.status !== 'suspended') return { messages: [], result: activeRun?.id }
  return { messages: [], endRun: endSuspended(view, activeRun, 'stopped'), result: activeRun.id }
}

function endSuspended ({ path, foundPath, waiting }: TurnView, run: Run, why: 'superseded' | 'stopped'): NonNullable<TurnPlan<never>['endRun']> {
  const message = waiting ?? [...path, ...foundPath].find(({ id }) => id === run.messageId)
  return { id: run.id, messageId: run.messageId, parts: message === undefined ? undefined : closeParts(message.parts, why), status: 'stopped', approvals: why }
}

function newQuestion (id: string, clientId: string | undefined, parentId: string | undefined, parts: readonly MessagePart[]): Question {
  return { id, clientId, parentId, role: 'user', parts, status: 'completed' }
}

/** The new question as the context shows it; what only the store knows is not read there. */
function asMessage (question: Question): Message {
  const now = new Date()
  return {
    id: question.id, clientId: question.clientId, parentId: question.parentId, position: 0, role: question.role, parts: question.parts,
    status: question.status, runId: undefined, model: undefined, finishReason: undefined, usage: undefined, costUsd: undefined,
    processingMs: undefined, errorCode: undefined, errorRef: undefined, startedAt: undefined, completedAt: now, createdAt: now, deletedAt: undefined
  }
}

function sameContent (a: readonly MessagePart[], b: readonly MessagePart[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function taken (): AppError {
  return new AppError('conflict', 'This thread already has another message with this id.', { details: { issues: [{ path: 'id', message: 'expected an id that is new in the thread' }] } })
}
