import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

/**
 * Of the calls of agents whose calls are not shown, those that made an artifact: it is for the user, whoever made it. Each
 * comes whole, once it is made.
 */
export function createShownArtifacts (): (event: RunEventBody) => RunEventBody[] {
  const starts = new Map<string, RunEventOf<'tool-call-start'>>()
  const inputs = new Map<string, RunEventOf<'tool-input-complete'>>()

  return (event) => {
    switch (event.type) {
      case 'tool-call-start':
        starts.set(event.callId, event)
        return []
      case 'tool-input-complete':
        if (event.attribution?.['artifact'] === undefined) starts.delete(event.callId)
        else inputs.set(event.callId, event)
        return []
      case 'tool-output': return event.preliminary === true ? [] : made(event)
      case 'tool-input-invalid': case 'tool-error': case 'tool-denied':
        forget(event.callId)
        return []
      default: return []
    }
  }

  function made (output: RunEventOf<'tool-output'>): RunEventBody[] {
    const [start, input] = [starts.get(output.callId), inputs.get(output.callId)]
    forget(output.callId)
    return start === undefined || input === undefined ? [] : [start, input, output]
  }

  function forget (callId: string): void {
    starts.delete(callId)
    inputs.delete(callId)
  }
}
