import type { Agent } from '../agents/agent.ts'
import type { HookContext } from '../agents/hooks.ts'

/** What an agent is told to be in one run: its instructions, or what its hook makes of them. */
export async function instructionsFor ({ instructions, systemPrompt }: Pick<Agent, 'instructions' | 'systemPrompt'>, context: HookContext): Promise<string> {
  return systemPrompt === undefined ? instructions : await systemPrompt(context, instructions)
}
