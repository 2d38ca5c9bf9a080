import type { Test } from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { createPermissions, type PermissionLists } from '../../../src/auth/permissions.ts'
import { checkOrder } from '../../../src/events/order.ts'
import type { RunEventBody, RunEventOf, RunEventType } from '../../../src/events/run-event.ts'
import type { Model } from '../../../src/models/model.ts'
import { runAgent } from '../../../src/runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../../../src/runtime/run-input.ts'
import { alice } from '../../contracts/turns.ts'
import { agentOf, registryWith } from '../../helpers/agents.ts'
import { recordingLog, type LoggedLine } from '../../helpers/memory-turns.ts'

export interface RunOptions {
  readonly model: Model
  /** Those that agents name. */
  readonly models?: Readonly<Record<string, Model>>
  readonly agent?: Partial<AgentDefinition>
  /** The other agents of the registry. */
  readonly crew?: readonly AgentDefinition[]
  readonly input?: Partial<RunInput>
  readonly toolOutputLimit?: number
  readonly subagentDigestLimit?: number
  /** In place of the defaults. */
  readonly permissions?: Partial<PermissionLists>
  readonly signal?: AbortSignal
  /** Sees each event as it comes. */
  readonly onEvent?: (event: RunEventBody) => void
}

export interface Ran {
  readonly events: readonly RunEventBody[]
  readonly log: readonly LoggedLine[]
  readonly of: <T extends RunEventType>(type: T) => Array<RunEventOf<T>>
  readonly text: string
  readonly end: RunEventBody | undefined
}

/** Runs an agent to its end and checks the order of its events. */
export async function run (t: Test, options: RunOptions): Promise<Ran> {
  const { model, models = {}, agent = {}, crew = [], input = {}, toolOutputLimit = 100_000, subagentDigestLimit = 6_000, permissions = {}, signal = new AbortController().signal, onEvent } = options
  const log = recordingLog()
  const main = agentOf(agent, model.id)
  const deps: RunDeps = {
    models: { get: (id) => models[id] ?? model, defaultModel: model.id }, agents: registryWith([main, ...crew.map((definition) => agentOf(definition, model.id))]),
    permissions: createPermissions({ lists: permissions, log }), log, toolOutputLimit, subagentDigestLimit, approvalTtlMs: 60_000
  }
  const runInput: RunInput = {
    runId: 'run-1', messageId: 'answer-1', threadId: 'thread-1', agent: main, principal: alice, metadata: { shop: 7 },
    history: [{ role: 'user', content: 'hello' }], mode: 'chat', useTools: true, suspendsFor: 'everything', ...input
  }
  const events: RunEventBody[] = []
  for await (const batch of runAgent(runInput, deps, signal)) {
    for (const event of batch) {
      events.push(event)
      onEvent?.(event)
    }
  }
  t.strictSame(checkOrder(events), [], 'the events are in order')
  return {
    events,
    log: log.lines,
    of: <T extends RunEventType>(type: T) => events.filter((event): event is RunEventOf<T> => event.type === type),
    text: events.map((event) => event.type === 'text-delta' ? event.delta : '').join(''),
    end: events.at(-1)
  }
}
