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
  readonly context: readonly Message[]
  readonly signal: AbortSignal
}

/** The run's events with the thread's title among them. A title that fails is made again on the next turn. */
export function titled (events: BatchStream<RunEventBody>, options: TitledOptions): BatchStream<RunEventBody> {
  const { deps, turns, agent, principal, threadId, context, signal } = options
  const question = context.find((message) => message.role === 'user')
  const text = question === undefined ? '' : textOf(question.parts)
  return text === '' ? events : withTitle(events, title)

  async function title (): Promise<MadeTitle> {
    try {
      const { title: made, usage } = await makeTitle(deps.models.get(agent.model), text, { signal, titlePrompt: agent.titlePrompt })
      const isKept = made !== undefined && await turns.suggestTitle(principal, threadId, made)
      return { usage, title: isKept ? made : undefined }
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error, threadId }, 'no title could be made')
      return { title: undefined, usage: undefined }
    }
  }
}
