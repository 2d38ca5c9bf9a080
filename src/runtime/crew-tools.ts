import type { Agent } from '../agents/agent.ts'
import { membersFor, type Member } from '../agents/crew-members.ts'
import { groupToolName, memberToolNames, slugOf } from '../agents/crew-names.ts'
import type { Tool } from '../tools/tool.ts'
import type { Frame } from './frame.ts'

/** Whom a call delegates to, and what. */
export interface Delegation extends Member {
  readonly task: string
}

/** A tool that is answered by a member at work. */
export interface CrewTool extends Tool {
  /** What its input may also be written as, as its schema has it. */
  readonly accept: (input: unknown) => unknown
  /** Of an input that its schema accepts. */
  readonly delegation: (input: unknown) => Delegation
  /** The member it always asks; undefined for a group. */
  readonly member: Agent | undefined
}

export interface Crew {
  readonly tools: readonly CrewTool[]
  /** A line on each member, for the coordinator's system prompt. */
  readonly roster: readonly string[]
}

export function isCrewTool (tool: Tool): tool is CrewTool {
  return 'delegation' in tool
}

/** The tools by which an agent asks its crew. `taken` are the names of its other tools, which keep theirs. */
export function crewOf (frame: Frame, taken: ReadonlySet<string>): Crew {
  const members = membersOf(frame)
  if (members.length === 0) return { tools: [], roster: [] }
  const tools = frame.agent.delegation === 'group' ? groupTools(members) : memberTools(members, taken)
  return { tools, roster: members.map(({ agent }) => `- ${agent.name}: ${agent.description}`) }
}

/** Whom a frame may ask: those that wait for this agent further up are left out. */
export function membersOf ({ agent, path, run: { root, principal, deps } }: Frame): readonly Member[] {
  const above = [root.id, ...path.map(({ agentId }) => agentId)]
  const { members, waiting } = membersFor(agent, { above, agents: deps.agents, mayView: (member) => deps.permissions.may(principal, 'view_agent', member) })
  for (const member of waiting) deps.log.debug({ agent: agent.key, member: member.key }, 'a member that waits for this agent is left out')
  return members
}

const taskSchema = Object.freeze({
  type: 'object',
  properties: { task: { type: 'string', minLength: 1, description: 'The whole task: the agent does not see this conversation.' } },
  required: ['task'],
  additionalProperties: false
})

function memberTools (members: readonly Member[], taken: ReadonlySet<string>): CrewTool[] {
  const names = memberToolNames(members.map(({ agent }) => agent), taken)
  return members.map((member, index) => {
    const { agent, mode } = member
    return crewTool({
      name: names[index]!, // one for each
      title: agent.name,
      description: describe(agent, mode),
      input: taskSchema,
      needsApproval: agent.needsApproval,
      member: agent,
      delegation: (input) => ({ ...member, task: (input as { task: string }).task }) // checked against taskSchema
    })
  })
}

/** One tool for all members of a mode. */
function groupTools (members: readonly Member[]): CrewTool[] {
  return (['request', 'handover'] as const).flatMap((mode) => {
    const bySlug = new Map(members.filter((member) => member.mode === mode).map((member) => [slugOf(member.agent.name), member]))
    if (bySlug.size === 0) return []
    const memberOf = (input: unknown) => bySlug.get((input as { agent: string }).agent)! // checked against the enum
    return [crewTool({
      name: groupToolName(mode),
      title: undefined,
      description: mode === 'request' ? 'Gives a task to one of the available subagents and returns its report.' : 'Lets one of the available subagents answer the user in your place.',
      input: { ...taskSchema, properties: { agent: { type: 'string', enum: [...bySlug.keys()] }, ...taskSchema.properties }, required: ['agent', 'task'] },
      needsApproval: (input, context) => gate(memberOf(input).agent, input, context),
      member: undefined,
      delegation: (input) => ({ ...memberOf(input), task: (input as { task: string }).task })
    })]
  })
}

function gate ({ needsApproval }: Agent, ...[input, context]: Parameters<Exclude<Tool['needsApproval'], boolean>>): boolean | Promise<boolean> {
  return typeof needsApproval === 'function' ? needsApproval(input, context) : needsApproval
}

function crewTool (tool: Pick<CrewTool, 'name' | 'title' | 'description' | 'input' | 'needsApproval' | 'member' | 'delegation'>): CrewTool {
  return { kind: 'tool', execute: undefined, timeoutMs: undefined, handling: 'response', accept: withTask, ...tool }
}

function describe ({ name, description }: Agent, mode: Delegation['mode']): string {
  const what = mode === 'request' ? `Asks the agent "${name}" and returns its report.` : `Lets the agent "${name}" answer the user in your place.`
  return description === '' ? what : `${what} ${description}`
}

/** Models that know other systems write `prompt`. */
function withTask (input: unknown): unknown {
  if (typeof input !== 'object' || input === null || 'task' in input || !('prompt' in input)) return input
  const { prompt, ...rest } = input
  return { ...rest, task: prompt }
}
