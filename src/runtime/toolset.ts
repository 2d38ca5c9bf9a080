import { withMemoryTools } from '../memories/memory-tools.ts'
import { checkOfSchema, jsonOfSchema } from '../tools/compiled-schema.ts'
import type { Checked } from '../tools/schema.ts'
import { legalName, providerNames } from '../tools/naming.ts'
import type { ToolProvider } from '../agents/agent.ts'
import type { ModelMessage, ModelTool } from '../models/model.ts'
import type { Tool } from '../tools/tool.ts'
import { isCrewTool, type Crew } from './crew-tools.ts'
import { ToolsUnavailable } from '../tools/tools-unavailable.ts'
import type { RunLogger } from './log.ts'

export interface OfferedTool {
  readonly tool: Tool
  readonly check: (value: unknown) => Checked
  readonly spec: ModelTool
}

/** The tools of one run, under the names the model knows them by. */
export interface Toolset {
  readonly specs: readonly ModelTool[]
  /** A line on each member that can be asked. */
  readonly roster: readonly string[]
  byModelName: (name: string) => OfferedTool | undefined
  has: (toolName: string) => boolean
  /** The name the model is given for a tool's own name, also for one that is not offered. */
  modelName: (toolName: string) => string
}

export interface AssembledTools {
  readonly toolset: Toolset
  /** Why some tools are missing, fit for the user. */
  readonly unavailable: readonly { readonly stage: string, readonly detail: string }[]
}

type ProviderContext = Parameters<ToolProvider>[0]

export interface ToolSources {
  readonly tools: readonly (Tool | ToolProvider)[]
  /** What brings those for the files that the agent sees. */
  readonly forAttachments?: ToolProvider | undefined
  /** Those that a memory brings, in the place of others of the same name. */
  readonly ofMemory?: readonly Tool[]
  /** Those that ask members, given the names of the others. */
  readonly crew: (taken: ReadonlySet<string>) => Crew
  /** What is offered of all these; everything when absent. */
  readonly choose?: (tools: readonly Tool[]) => Promise<{ readonly tools: readonly Tool[], readonly unavailable: AssembledTools['unavailable'] }>
}

/** Asks every provider for its tools. One that fails, or brings an unusable tool, costs its own tools only. */
export async function assembleTools ({ tools: sources, forAttachments, ofMemory = [], crew: crewFor, choose }: ToolSources, context: ProviderContext, log: RunLogger): Promise<AssembledTools> {
  const unavailable: { stage: string, detail: string }[] = []
  const ofSource = async (source: Tool | ToolProvider): Promise<readonly Tool[]> => {
    if (typeof source !== 'function') return [source]
    try {
      return [await source(context)].flat() as Tool[]
    } catch (error) {
      log.warn({ err: error }, 'a tool provider failed')
      const { stage, detail } = error instanceof ToolsUnavailable ? error : { stage: 'tools', detail: 'Some tools are not available right now.' }
      unavailable.push({ stage, detail })
      return []
    }
  }
  const [gathered, ofAttachments] = await Promise.all([Promise.all(sources.map(ofSource)), forAttachments === undefined ? [] : ofSource(forAttachments)])
  const offered = new Map<string, OfferedTool>()
  const own = gathered.flat()
  const others = withMemoryTools([...own, ...ofAttachments], ofMemory)
  const crew = crewFor(new Set(others.map(({ name }) => name)))
  // The crew's, then those for files, then what a memory adds and does not put in the place of another tool.
  const all = [...others.slice(0, own.length), ...crew.tools, ...others.slice(own.length)]
  const { tools, unavailable: refused } = await choose?.(all) ?? { tools: all, unavailable: [] }
  unavailable.push(...refused)
  const names = providerNames(tools.map((tool) => tool.name))
  for (const tool of tools) {
    const name = names.get(tool.name) ?? tool.name
    if (offered.has(name)) {
      log.warn({ tool: tool.name }, 'a tool of this name is already offered; the later one is left out')
      continue
    }
    try {
      offered.set(name, { tool, check: checkOf(tool), spec: { name, description: tool.description, parameters: jsonOfSchema(tool.input) } })
    } catch (error) {
      log.warn({ err: error, tool: tool.name }, 'a tool has an unusable input schema and is left out')
      unavailable.push({ stage: 'tools', detail: `The tool "${tool.name}" is not available.` })
    }
  }
  return { toolset: toolsetOf(offered, names, tools.some(isCrewTool) ? crew.roster : []), unavailable }
}

/** A conversation told with the tools' own names, as the model knows them. */
export function withModelNames (messages: readonly ModelMessage[], { modelName }: Toolset): ModelMessage[] {
  return messages.map((message) => {
    switch (message.role) {
      case 'user': return message
      case 'tool': return { ...message, toolName: modelName(message.toolName) }
      case 'assistant': return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, toolName: modelName(call.toolName) })) }
      default: return message satisfies never
    }
  })
}

export const noTools: Toolset = toolsetOf(new Map(), new Map(), [])

function toolsetOf (offered: ReadonlyMap<string, OfferedTool>, names: ReadonlyMap<string, string>, roster: readonly string[]): Toolset {
  const own = new Set([...offered.values()].map(({ tool }) => tool.name))
  return {
    specs: [...offered.values()].map(({ spec }) => spec),
    roster,
    byModelName: (name) => offered.get(name),
    has: (toolName) => own.has(toolName),
    modelName: (toolName) => names.get(toolName) ?? legalName(toolName)
  }
}

function checkOf (tool: Tool): (value: unknown) => Checked {
  const check = checkOfSchema(tool.input)
  return isCrewTool(tool) ? (value) => check(tool.accept(value)) : check
}
