import type { Agent } from '../agents/agent.ts'
import type { ChoiceFacts, HookContext } from '../agents/hooks.ts'
import type { ToolChoice } from '../models/model.ts'
import type { Tool } from '../tools/tool.ts'
import type { RunLogger } from './log.ts'
import type { AssembledTools, Toolset } from './toolset.ts'

/** The tools a run has, by the agent's own choice among all there are. A choice that fails leaves none rather than all. */
export async function chooseTools (tools: readonly Tool[], { toolsForRun }: Pick<Agent, 'toolsForRun'>, { context, log }: { context: HookContext, log: RunLogger }): Promise<{ readonly tools: readonly Tool[], readonly unavailable: AssembledTools['unavailable'] }> {
  if (toolsForRun === undefined) return { tools, unavailable: [] }
  try {
    return { tools: await toolsForRun(context, tools), unavailable: [] }
  } catch (error) {
    log.error({ err: error, hook: 'tools' }, 'a hook of the agent failed')
    return { tools: [], unavailable: [{ stage: 'tools', detail: 'Tools are not available right now.' }] }
  }
}

/** What the model is told of calling tools in this step, in the names it knows them by. */
export function toolChoiceFor ({ toolChoice, toolChoiceForStep }: Pick<Agent, 'toolChoice' | 'toolChoiceForStep'>, facts: ChoiceFacts, toolset: Toolset): ToolChoice {
  // A forced choice holds for the first step only: forced on every step, the run could never answer.
  const choice = toolChoiceForStep?.(facts, 'auto') ?? (facts.step === 1 ? toolChoice : 'auto')
  if (typeof choice === 'string') return choice
  return toolset.has(choice.tool) ? { tool: toolset.modelName(choice.tool) } : 'auto'
}
