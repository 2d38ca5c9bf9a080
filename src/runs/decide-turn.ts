import { AppError, invalidRequest, notFound, threadBusy } from '../errors.ts'
import { closeParts } from '../messages/assembler.ts'
import { isToolPart, type MessagePart } from '../messages/parts.ts'
import type { ToolOutput, TurnRequest } from '../messages/turn-request.ts'
import type { Message } from '../threads/message.ts'
import { answerPending, type Answered } from './pending-calls.ts'
import type { Run, TurnPlan, TurnView } from './turn-store.ts'

/** What a request comes to. */
export type TurnDecision =
  /** A new run, on a context that ends with what it answers. */
  | { readonly kind: 'run', readonly runId: string, readonly messageId: string, readonly context: readonly Message[], readonly continues: Answered | undefined }
  /** The same request is being answered already. `continuation`: who asks holds what the message said before that run. */
  | { readonly kind: 'attach', readonly run: Run, readonly from: 'start' | 'continuation' }
  /** The same request has been answered already. Who asks holds the first `heldParts` parts of the message. */
  | { readonly kind: 'replay', readonly message: Message, readonly heldParts: number }

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
    case 'tool-outputs': return request.messageId
    case 'regenerate': return request.messageId
    default: return request satisfies never
  }
}

/** Pure: what a turn does to the thread it sees. Throws thread_busy, conflict or not_found. */
export function decideTurn (view: TurnView, request: TurnRequest, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  switch (request.kind) {
    case 'message': return decideMessage(view, request, ids, settings)
    case 'tool-outputs': return decideOutputs(view, request, ids, settings)
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

function decideOutputs (view: TurnView, request: TurnRequest & { kind: 'tool-outputs' }, ids: TurnIds, settings: TurnSettings): TurnPlan<TurnDecision> {
  const { activeRun } = view
  const { found, foundPath } = request.messageId === undefined ? newestAnswer(view) : view
  if (view.thread === undefined) throw notFound('thread')
  if (found === undefined || found.role !== 'assistant' || found.deletedAt !== undefined) throw notFound('message')
  if (activeRun?.messageId !== found.id) return { messages: [], result: restOf(found, request.outputs) }
  if (activeRun.status === 'running') return { messages: [], result: { kind: 'attach', run: activeRun, from: 'continuation' } }

  const answered = answerPending(found.parts, request.outputs)
  const message = { ...found, parts: answered.parts }
  if (answered.stillPending.length > 0) {
    return { messages: [], continueMessage: { id: found.id, parts: answered.parts, status: 'suspended' }, result: { kind: 'replay', message, heldParts: message.parts.length } }
  }
  return {
    messages: [],
    continueMessage: { id: found.id, parts: answered.parts, status: 'streaming' },
    endRun: { id: activeRun.id, messageId: found.id, parts: undefined, status: 'completed' },
    run: { id: ids.runId, messageId: found.id, agentId: settings.agentId, holder: settings.holder, leaseUntil: settings.leaseUntil },
    result: { kind: 'run', runId: ids.runId, messageId: found.id, context: [...foundPath.slice(0, -1), message], continues: answered }
  }
}

function newestAnswer ({ path }: TurnView): Pick<TurnView, 'found' | 'foundPath'> {
  const index = path.findLastIndex(({ role }) => role === 'assistant')
  return { found: path[index], foundPath: path.slice(0, index + 1) }
}

/** What a message said after these outputs. A client that got nothing new would post them again, without end. */
function restOf (message: Message, outputs: readonly ToolOutput[]): TurnDecision {
  const { parts, status } = message
  const callIds = new Set(outputs.map(({ callId }) => callId))
  const lastCall = parts.findLastIndex((part) => isToolPart(part) && callIds.has(part.toolCallId))
  const next = parts.findIndex((part, index) => index > lastCall && part.type === 'step-start')
  const hasRest = lastCall !== -1 && next !== -1 && (status === 'completed' || status === 'stopped')
  if (!hasRest) throw new AppError('conflict', 'This message does not wait for these results any more.')
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

function endSuspended ({ path, foundPath, waiting }: TurnView, run: Run, why: string): NonNullable<TurnPlan<never>['endRun']> {
  const message = waiting ?? [...path, ...foundPath].find(({ id }) => id === run.messageId)
  return { id: run.id, messageId: run.messageId, parts: message === undefined ? undefined : closeParts(message.parts, why), status: 'stopped' }
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
    errorCode: undefined, errorRef: undefined, startedAt: undefined, completedAt: now, createdAt: now, deletedAt: undefined
  }
}

function sameContent (a: readonly MessagePart[], b: readonly MessagePart[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function taken (): AppError {
  return new AppError('conflict', 'This thread already has another message with this id.', { details: { issues: [{ path: 'id', message: 'expected an id that is new in the thread' }] } })
}
