import type { MessagePart } from '../../../src/messages/parts.ts'
import type { TurnView } from '../../../src/runs/turn-store.ts'
import type { Message } from '../../../src/threads/message.ts'
import type { Thread } from '../../../src/threads/thread-store.ts'

export const thread: Thread = {
  id: 'thread-1', ownerId: 'alice', agentId: 'agent-1', title: undefined, metadata: {}, archived: false, headId: undefined, messageCount: 0,
  createdAt: new Date(0), updatedAt: new Date(0), lastMessageAt: undefined
}

export function question (id: string, parentId: string | undefined, text: string, fields: Partial<Message> = {}): Message {
  return { ...message(id, parentId, [{ type: 'text', text }]), role: 'user', ...fields }
}

export function answered (id: string, parentId: string, text: string, fields: Partial<Message> = {}): Message {
  return { ...message(id, parentId, [{ type: 'text', text, state: 'done' }]), role: 'assistant', ...fields }
}

/** A thread whose head is the last of `path`. */
export function viewOf (path: readonly Message[], fields: Partial<TurnView> = {}): TurnView {
  return { thread: { ...thread, headId: path.at(-1)?.id }, activeRun: undefined, path, found: undefined, foundPath: [], ...fields }
}

function message (id: string, parentId: string | undefined, parts: readonly MessagePart[]): Omit<Message, 'role'> {
  return {
    id, clientId: undefined, parentId, position: 1, parts, status: 'completed', runId: undefined, model: undefined, finishReason: undefined, usage: undefined,
    costUsd: undefined, processingMs: undefined, errorCode: undefined, errorRef: undefined, startedAt: undefined, completedAt: undefined, createdAt: new Date(0), deletedAt: undefined
  }
}
