import type { RunEventBody } from '../events/run-event.ts'
import { untilAborted } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import { attachmentTools } from './attachment-tools.ts'
import { chooseTools } from './choose-tools.ts'
import { crewOf } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import { prepareMemory } from './recall.ts'
import { withToolHooks } from './tool-hooks.ts'
import { assembleTools, noTools, type ToolSources, type Toolset } from './toolset.ts'

/** What an agent may call in one run: its own tools and its crew's, as its hooks choose and wrap them. */
export async function * offerTools (frame: Frame, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, Toolset> {
  const { agent, useTools, metadata, run: { principal, threadId, runId, deps: { log } } } = frame
  const ofMemory = await prepareMemory(frame, signal)
  const forAttachments = attachmentTools(frame, signal)
  if (!useTools || (agent.tools.length === 0 && ofMemory.length === 0 && forAttachments === undefined && agent.crew.length === 0 && agent.toolsForRun === undefined)) return noTools
  const sources: ToolSources = {
    tools: agent.tools,
    forAttachments,
    ofMemory,
    crew: (taken) => crewOf(frame, taken),
    async choose (all) {
      const { tools, unavailable } = await chooseTools(all, agent, { context: hookContext(frame, signal), log })
      return { unavailable, tools: tools.map((tool) => withToolHooks(tool, agent)) }
    }
  }
  const { toolset, unavailable } = await untilAborted(assembleTools(sources, { principal, threadId, runId, metadata, signal }, log), signal)
  if (unavailable.length > 0) yield unavailable.map((data) => ({ type: 'data', name: 'unavailable', data, transient: true }))
  return toolset
}
