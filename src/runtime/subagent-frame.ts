import type { RunEventBody } from '../events/run-event.ts'

/** How a member's errand went. */
export type MemberStatus = 'running' | 'completed' | 'truncated' | 'stopped' | 'failed' | 'suspended'

export interface SubagentFrame {
  readonly start: () => RunEventBody
  /** Takes what the member says; an event when it is time to show it. */
  readonly observe: (event: RunEventBody) => RunEventBody | undefined
  readonly end: (status: MemberStatus) => RunEventBody
}

// At most 4 updates a second; each tells the whole text, so a long one is told less often.
const everyMs = 250
const charactersPerMs = 100

/** What a member says, as one part of the message that is replaced while it grows. */
export function createSubagentFrame ({ frameId, name, now = () => performance.now() }: { readonly frameId: string, readonly name: string, readonly now?: () => number }): SubagentFrame {
  const said = { text: '', reasoning: '' }
  let notBefore = 0

  return {
    start: () => ({ type: 'subagent-start', frameId, name, status: 'running', ...said }),
    observe (event) {
      if (!take(event) || now() < notBefore) return undefined
      notBefore = now() + everyMs + (said.text.length + said.reasoning.length) / charactersPerMs
      return { type: 'subagent-update', frameId, name, status: 'running', ...said }
    },
    end: (status) => ({ type: 'subagent-end', frameId, name, status, ...said })
  }

  function take (event: RunEventBody): boolean {
    switch (event.type) {
      case 'text-start': return open('text')
      case 'reasoning-start': return open('reasoning')
      case 'text-delta': return add('text', event.delta)
      case 'reasoning-delta': return add('reasoning', event.delta)
      default: return false
    }
  }

  function open (kind: keyof typeof said): boolean {
    return said[kind] !== '' && add(kind, '\n\n')
  }

  function add (kind: keyof typeof said, delta: string): boolean {
    said[kind] += delta
    return delta !== ''
  }
}
