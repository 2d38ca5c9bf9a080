import type { Agent } from '../agents/agent.ts'
import type { Principal } from '../auth/principal.ts'
import type { ToldConversation } from '../messages/told-conversation.ts'
import type { JsonSchema } from '../models/model.ts'
import { responseShape } from '../runtime/response-shape.ts'
import { runAgent } from '../runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../runtime/run-input.ts'
import type { Reply } from './chat.ts'
import type { RunRegistry } from './run-registry.ts'
import { chatRun } from './start-turn.ts'

export interface UnstoredTurn {
  readonly agent: Agent
  readonly told: ToldConversation
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** What this caller asks for beside the agent's own. */
  readonly run?: Partial<Pick<RunInput, 'callerInstructions' | 'settings' | 'suggests' | 'suspendsFor'>> | undefined
  /** A JSON schema that the answer must have the shape of, and the name its caller gave it by. */
  readonly response?: { readonly schema: JsonSchema, readonly path: string } | undefined
}

/** Begins one turn of a conversation that only its client keeps. Resolves when the reply can be read. */
export type StartUnstoredTurn = (principal: Principal, turn: UnstoredTurn) => Promise<Reply>

export function createStartUnstoredTurn ({ runs, deps, newId }: { readonly runs: RunRegistry, readonly deps: RunDeps, readonly newId: () => string }): StartUnstoredTurn {
  return async (principal, { agent, told: { messages: history, continues }, metadata = {}, run, response }) => {
    const shape = response === undefined ? undefined : responseShape(response.schema, response.path)
    const [runId, messageId] = [newId(), continues?.messageId ?? newId()]
    const runDeps = { ...deps, log: deps.log.child({ runId }) }
    const initialParts = continues?.parts ?? []
    await runs.reserve(runId).start({
      // Nothing is kept of it, so a run that nobody reads any more is for nobody.
      principal, messageId, threadId: undefined, initialParts, onDisconnect: 'stop',
      events: (signal, abort) => runAgent({ ...chatRun, suspendsFor: 'nothing', ...run, ...(shape === undefined ? {} : { response: shape }), runId, messageId, agent, principal, metadata, threadId: undefined, history }, runDeps, signal, abort)
    })
    return { runId, threadId: undefined, agent, initialParts, events: (signal) => runs.follow(runId, { after: -1, signal }) }
  }
}
