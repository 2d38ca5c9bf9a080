import type { ToolProvider } from '../agents/agent.ts'
import { isTool, type Tool } from '../tools/tool.ts'
import { ToolsUnavailable } from '../tools/tools-unavailable.ts'
import type { Frame } from './frame.ts'
import { hookContext } from './hook-context.ts'

// An agent is told of files, and shown images: it needs no tool for that.
const ours: readonly Tool[] = Object.freeze([])

/** What brings an agent's tools for the files it sees; undefined where it sees none, or wants none. */
export function attachmentTools (frame: Frame, signal: AbortSignal): ToolProvider | undefined {
  const { agent: { attachmentTools: hook }, files } = frame
  if (hook === undefined || files.length === 0) return undefined
  return async () => {
    try {
      const tools = [...await hook(files, hookContext(frame, signal), ours)]
      if (!tools.every(isTool)) throw new TypeError('attachmentTools gave something that is no tool')
      return tools
    } catch (cause) {
      throw new ToolsUnavailable('attachments', 'Tools for the files of this conversation are not available right now.', { cause })
    }
  }
}
