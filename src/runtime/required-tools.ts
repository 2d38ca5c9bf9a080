import type { ModelMessage } from '../models/model.ts'
import type { Frame } from './frame.ts'
import type { RunState } from './run-state.ts'
import type { Toolset } from './toolset.ts'

// A model that ignores two reminders will ignore the third.
const maxReminders = 2

/** The names that must be called before this run may end; names without a tool do not count. */
export function requiredTools ({ agent, history }: Frame, toolset: Toolset): ReadonlySet<string> {
  const names = [...agent.requiredTools, ...agent.requiredToolsForRun?.(history, agent.requiredTools) ?? []]
  return new Set(names.filter((name) => toolset.has(name)))
}

export function missingTools (required: ReadonlySet<string>, state: RunState): readonly string[] {
  return state.reminders >= maxReminders ? [] : [...required].filter((name) => !state.calledTools.has(name))
}

/** What the model is told after it tried to answer too early. */
export function reminder (text: string, missing: readonly string[], toolset: Toolset): ModelMessage[] {
  const names = missing.map((name) => `"${toolset.modelName(name)}"`).join(', ')
  const content = `You have not called ${names} yet, and it is required before you answer. Call it now.`
  return [...(text === '' ? [] : [{ role: 'assistant', text, toolCalls: [] } as const]), { role: 'user', content }]
}
