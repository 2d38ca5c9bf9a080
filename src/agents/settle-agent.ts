import type { z } from 'zod'
import { artifactTool } from '../artifacts/artifact-tool.ts'
import type { Tool } from '../tools/tool.ts'
import type { Agent, agentSchema, ToolProvider } from './agent.ts'
import { crewMember } from './crew.ts'
import { agentId } from './ids.ts'

export interface Settled {
  /** Full `provider:model`. */
  readonly model: string
  readonly fallbackModels: readonly string[]
  /** Those of the definition's list, names resolved, and then those of its integrations. */
  readonly tools: readonly (Tool | ToolProvider)[]
}

/** The agent of a checked definition. */
export function settleAgent ({ tools, toolChoice, agents, ...attributes }: z.output<typeof agentSchema>, settled: Settled): Agent {
  return Object.freeze({
    ...attributes,
    ...settled,
    tools: [...settled.tools, ...attributes.artifacts.map(artifactTool)],
    kind: 'agent',
    id: agentId(attributes.key),
    name: attributes.name ?? attributes.key,
    crew: agents.map(crewMember),
    toolsForRun: typeof tools === 'function' ? tools : undefined,
    toolChoice: typeof toolChoice === 'function' ? 'auto' : toolChoice,
    toolChoiceForStep: typeof toolChoice === 'function' ? toolChoice : undefined
  })
}
