import type { Agent } from '../agents/agent.ts'
import type { Principal } from '../auth/principal.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { textOf } from '../messages/parts.ts'
import type { RunDeps } from '../runtime/run-input.ts'
import { makeTitle, withTitle, type MadeTitle } from '../runtime/title.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { Message } from '../threads/message.ts'
import type { TurnStore } from './turn-store.ts'

export interface TitledOptions {
  readonly deps: RunDeps
  readonly turns: TurnStore
  readonly agent: Agent
  readonly principal: Principal
  readonly threadId: string
  /** The user's words that the thread began with. */
  readonly question: string
  readonly signal: AbortSignal
}

/** What a thread is named after; empty where its first message has no words. */
export function questionOf (context: readonly Message[]): string {
  const question = context.find((message) => message.role === 'user')
  return question === undefined ? '' : textOf(question.parts)
}

/** The run's events with the thread's title among them. A title that fails is made again on the next turn. */
export function titled (events: BatchStream<RunEventBody>, options: TitledOptions): BatchStream<RunEventBody> {
  const { deps, turns, agent, principal, threadId, question, signal } = options
  return withTitle(events, title)

  async function title (): Promise<MadeTitle> {
    let usage: MadeTitle['usage']
    try {
      const made = await makeTitle(deps.models.get(agent.model), question, { signal, titlePrompt: agent.titlePrompt })
      usage = made.usage
      if (made.failure !== undefined) throw made.failure.error
      const isKept = made.title !== undefined && await turns.suggestTitle(principal, threadId, made.title)
      return { usage, title: isKept ? made.title : undefined }
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error, threadId }, 'no title could be made')
      return { usage, title: undefined }
    }
  }
}
