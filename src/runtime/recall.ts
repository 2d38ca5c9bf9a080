import { rememberTurn } from '../memories/remember-turn.ts'
import { replayable, splitAtQuestion } from '../memories/replayable.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { Tool } from '../tools/tool.ts'
import { untilAborted } from '../streams/abort.ts'
import type { Frame } from './frame.ts'
import { callIdsOf } from './run-state.ts'
import type { Toolset } from './toolset.ts'

/** The tools an agent's memory brings for this turn; before recall. */
export async function prepareMemory ({ agent, memory }: Frame, signal: AbortSignal): Promise<readonly Tool[]> {
  return memory === undefined ? [] : await untilAborted(memory.prepare(agent.instructions), signal)
}

/** Puts what the agent remembers before the newest question, in place of the stored conversation. */
export async function recallInto ({ history, memory, state }: Frame, toolset: Toolset, signal: AbortSignal): Promise<void> {
  if (memory === undefined) return
  const isOffered = (toolName: string) => toolset.byModelName(toolset.modelName(toolName)) !== undefined
  const recalled = replayable(await untilAborted(memory.recall(), signal), isOffered)
  // Some providers repeat their ids.
  for (const callId of callIdsOf(recalled)) state.uniqueCallId(callId)
  state.recalled = recalled
  state.messages.splice(0, Infinity, ...recalled, ...splitAtQuestion(history).turn)
}

/** Keeps what the model's conversation is at the end of a turn that completed. */
export async function rememberFrame ({ memory, state, run: { deps: { log } } }: Frame, signal: AbortSignal): Promise<readonly RunEventBody[]> {
  if (memory === undefined) return []
  const { messages, answer } = state
  return await rememberTurn(memory, answer === undefined ? messages : [...messages, answer], { log, signal })
}
