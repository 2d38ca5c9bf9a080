import type { RunEventOf } from '../../events/run-event.ts'
import { frame } from './event-frame.ts'

export interface Subagents {
  begin: (event: RunEventOf<'subagent-start'>) => string
  end: (event: RunEventOf<'subagent-end'>) => string
  /** Ends those that a broken run left open. */
  close: () => string
}

/** Members at work, as the invocations this wire has: each begins once in a run and ends once. */
export function createSubagents (): Subagents {
  const begun = new Set<string>()
  const open = new Map<string, string>()
  const frameAt = new Map<string, string>()

  return {
    begin ({ frameId, name, agentPath = [] }) {
      if (begun.has(frameId)) return ''
      begun.add(frameId)
      open.set(frameId, name)
      const parent = frameAt.get(pathKey(agentPath.slice(0, -1)))
      frameAt.set(pathKey(agentPath), frameId)
      const parentCall = agentPath.at(-1)?.toolCallId
      return frame({
        type: 'SUBAGENT_STARTED', subagentRunId: frameId, name,
        ...(parent === undefined ? {} : { parentSubagentRunId: parent }),
        ...(parentCall === undefined ? {} : { parentToolCallId: parentCall })
      })
    },
    end ({ frameId, name, status }) {
      return open.delete(frameId) ? ending(frameId, name, status) : ''
    },
    close () {
      const frames = [...open].map(([frameId, name]) => ending(frameId, name, 'stopped')).join('')
      open.clear()
      return frames
    }
  }
}

function ending (subagentRunId: string, name: string, status: string): string {
  if (status === 'failed' || status === 'stopped') return frame({ type: 'SUBAGENT_ERROR', subagentRunId, message: `${name} ${status === 'failed' ? 'failed' : 'was stopped'}.`, code: status })
  return frame({ type: 'SUBAGENT_FINISHED', subagentRunId, ...(status === 'suspended' ? { outcome: { type: 'suspended' } } : {}) })
}

function pathKey (path: NonNullable<RunEventOf<'subagent-start'>['agentPath']>): string {
  return path.map(({ toolCallId }) => toolCallId).join('\n')
}
