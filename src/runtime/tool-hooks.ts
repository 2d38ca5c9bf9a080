import type { Agent } from '../agents/agent.ts'
import { isArtifactTool } from '../artifacts/artifact-tool.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'

/** The tool with the agent's hooks around it. They take part in its time, and what they throw is its failure. Submitting an artifact runs nothing. */
export function withToolHooks (tool: Tool, { beforeTool, afterTool }: Pick<Agent, 'beforeTool' | 'afterTool'>): Tool {
  const { execute, name: toolName } = tool
  if (execute === undefined || isArtifactTool(tool) || (beforeTool === undefined && afterTool === undefined)) return tool
  return Object.freeze({ ...tool, execute: hooked })

  async function hooked (given: unknown, context: ToolContext): Promise<unknown> {
    const call = { callId: context.callId, toolName }
    const input = beforeTool === undefined ? given : await beforeTool(call, context, given)
    // A call whose time is up has been answered: what it would do now, nobody would know of.
    context.signal.throwIfAborted()
    const output = await execute?.(input as never, context) // the tool's own schema, or the hook, says what it is
    return afterTool === undefined ? output : await afterTool({ ...call, input }, context, output)
  }
}
