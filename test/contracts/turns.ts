import { randomUUID } from 'node:crypto'
import type { Principal } from '../../src/auth/principal.ts'
import type { ThreadStores } from '../../src/storage/storage.ts'
import type { MessagePart } from '../../src/messages/parts.ts'
import type { NewMessage, TurnEnd, TurnPlan, TurnView } from '../../src/runs/turn-store.ts'

export const alice: Principal = { tenantId: 'acme', userId: 'alice', roles: [] }
export const bob: Principal = { tenantId: 'acme', userId: 'bob', roles: [] }
/** The same user id in another tenant is somebody else. */
export const otherAlice: Principal = { tenantId: 'globex', userId: 'alice', roles: [] }

export const holder = 'process-1'
export const noTokens = { input: 0, output: 0, reasoning: 0, cachedRead: 0, cacheWrite: 0 }

export function text (content: string): MessagePart[] {
  return [{ type: 'text', text: content }]
}

export function userMessage (content: string, fields: Partial<NewMessage> = {}): NewMessage {
  return { id: randomUUID(), parentId: undefined, role: 'user', parts: text(content), status: 'completed', ...fields }
}

export function answer (parentId: string | undefined, fields: Partial<NewMessage> = {}): NewMessage {
  return { id: randomUUID(), parentId, role: 'assistant', parts: [], status: 'streaming', model: 'test:model', ...fields }
}

export interface Turn { readonly runId: string, readonly userId: string, readonly answerId: string }

/** What a service decides for a plain new message: it goes under the head, and a run writes the answer. */
export function planTurn (view: TurnView, content: string, fields: Partial<NewMessage> = {}): TurnPlan<Turn> {
  const question = userMessage(content, { parentId: view.thread?.headId, ...fields })
  const reply = answer(question.id)
  const runId = randomUUID()
  return {
    createThread: view.thread === undefined ? { agentId: 'agent-1' } : undefined,
    messages: [question, reply],
    run: { id: runId, messageId: reply.id, agentId: 'agent-1', holder, leaseUntil: inOneMinute() },
    result: { runId, userId: question.id, answerId: reply.id }
  }
}

export function inOneMinute (): Date {
  return new Date(Date.now() + 60_000)
}

export function startTurn (database: ThreadStores, principal: Principal, threadId: string, content: string, fields: Partial<NewMessage> = {}): Promise<Turn> {
  return database.turns.begin(principal, threadId, { contextLimit: 50 }, (view) => planTurn(view, content, fields))
}

export function endOf ({ runId, answerId }: Turn, content: string, fields: Partial<TurnEnd> = {}): TurnEnd {
  return {
    runId,
    messageId: answerId,
    runStatus: 'completed',
    messageStatus: 'completed',
    parts: text(content),
    finishReason: 'stop',
    usage: noTokens,
    costUsd: undefined,
    processingMs: undefined,
    usageRecords: [],
    discardMessage: false,
    ...fields
  }
}

export async function takeTurn (database: ThreadStores, principal: Principal, threadId: string, question: string, reply: string): Promise<Turn> {
  const turn = await startTurn(database, principal, threadId, question)
  await database.turns.finish(holder, endOf(turn, reply))
  return turn
}
