import type { Agent } from '../agents/agent.ts'
import type { HookContext } from '../agents/hooks.ts'

/** The system prompt of one run: the agent's instructions, or what its hook makes of them. */
export async function systemPrompt ({ instructions, systemPrompt: hook }: Pick<Agent, 'instructions' | 'systemPrompt'>, context: HookContext): Promise<string> {
  return hook === undefined ? instructions : await hook(context, instructions)
}
