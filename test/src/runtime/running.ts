import type { Test } from 'tap'
import { agentSchema, type Agent, type AgentDefinition, type ToolProvider } from '../../../src/agents/agent.ts'
import { settleAgent } from '../../../src/agents/settle-agent.ts'
import { checkOrder } from '../../../src/events/order.ts'
import type { RunEventBody, RunEventOf, RunEventType } from '../../../src/events/run-event.ts'
import type { Model } from '../../../src/models/model.ts'
import { runAgent } from '../../../src/runtime/run-agent.ts'
import type { RunDeps, RunInput } from '../../../src/runtime/run-input.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { alice } from '../../contracts/turns.ts'
import { recordingLog, type LoggedLine } from '../../helpers/memory-turns.ts'

export interface RunOptions {
  readonly model: Model
  readonly agent?: Partial<AgentDefinition>
  readonly input?: Partial<RunInput>
  readonly toolOutputLimit?: number
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
  const { model, agent = {}, input = {}, toolOutputLimit = 100_000, signal = new AbortController().signal, onEvent } = options
  const log = recordingLog()
  const deps: RunDeps = { models: { get: () => model, defaultModel: model.id }, log, toolOutputLimit }
  const runInput: RunInput = {
    runId: 'run-1', messageId: 'answer-1', threadId: 'thread-1', agent: agentOf(agent, model), principal: alice, metadata: { shop: 7 },
    history: [{ role: 'user', content: 'hello' }], mode: 'chat', useTools: true, canSuspend: true, ...input
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

export function agentOf (definition: Partial<AgentDefinition>, model: Model): Agent {
  const checked = agentSchema.parse({ key: 'tester', ...definition })
  const tools = typeof checked.tools === 'function' ? [] : checked.tools.filter((tool): tool is Tool | ToolProvider => typeof tool !== 'string')
  return settleAgent(checked, { model: model.id, fallbackModels: checked.fallbackModels, tools })
}
