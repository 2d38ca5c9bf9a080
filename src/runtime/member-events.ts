import type { Agent } from '../agents/agent.ts'
import type { AgentPath, RunEventBody } from '../events/run-event.ts'
import { createOpenEnds } from './open-ends.ts'
import { refusedInput } from './refused-input.ts'
import { createShownArtifacts } from './shown-artifacts.ts'
import { createSubagentFrame, type MemberStatus } from './subagent-frame.ts'

export interface MemberEventsOptions {
  readonly path: AgentPath
  readonly name: string
  /** How much of members the run shows. */
  readonly show: Agent['subagentStream']
  /** A member that takes over the answer speaks as its coordinator. */
  readonly takesOver: boolean
  /** What was left open when the member stopped, if it goes on. */
  readonly open: readonly RunEventBody[]
}

/** What of a member's events leaves its frame, and under whose name. */
export interface MemberEvents {
  readonly begin: () => RunEventBody[]
  readonly pass: (events: readonly RunEventBody[]) => RunEventBody[]
  /** Closes what is open and answers every call with `problem`, when the member broke off. */
  readonly breakOff: (problem: string) => RunEventBody[]
  readonly end: (status: MemberStatus) => RunEventBody[]
}

export function createMemberEvents ({ path, name, show, takesOver, open }: MemberEventsOptions): MemberEvents {
  const openEnds = createOpenEnds()
  openEnds.observe(open)
  // Shown to whoever had to answer them, so the answer is shown too, even where members are hidden.
  const announced = new Set(open.flatMap((event) => 'callId' in event ? [event.callId] : []))
  const shownArtifacts = createShownArtifacts()
  const frame = show === 'full' ? createSubagentFrame({ frameId: path.map(({ toolCallId }) => toolCallId).join('/'), name }) : undefined

  return {
    begin: () => frame === undefined ? [] : [stamped(frame.start())],
    pass,
    breakOff: (problem) => pass(openEnds.close(problem)),
    end: (status) => frame === undefined ? [] : [stamped(frame.end(status))]
  }

  function pass (events: readonly RunEventBody[]): RunEventBody[] {
    openEnds.observe(events)
    return events.flatMap((event) => event.agentPath === undefined ? own(event) : shown(event))
  }

  function own (event: RunEventBody): RunEventBody[] {
    if (takesOver && event.type.startsWith('text-')) return [event]
    const update = frame?.observe(event)
    return [...shown(stamped(event)), ...update === undefined ? [] : [stamped(update)]]
  }

  /** What the run counts with is always passed on. */
  function shown (event: RunEventBody): RunEventBody[] {
    switch (event.type) {
      case 'usage': return [event]
      case 'tool-input-invalid': return refusedInput(event).flatMap(shown)
      case 'text-start': case 'text-delta': case 'text-end': case 'reasoning-start': case 'reasoning-delta': case 'reasoning-end':
      case 'step-start': case 'step-end':
        return show === 'full' ? [event] : []
      default:
        if (show !== 'none' || ('callId' in event && announced.has(event.callId))) return [event]
        return shownArtifacts(event)
    }
  }

  function stamped (event: RunEventBody): RunEventBody {
    return { ...event, agentPath: path }
  }
}
