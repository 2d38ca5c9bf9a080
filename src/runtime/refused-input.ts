import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

/**
 * A member's call whose input was refused, as a call that failed: a refused input has no place for whose it was, neither on
 * the wire nor in a client's message, and the next turn would tell the coordinator's model of a call of its own.
 */
export function refusedInput (event: Omit<RunEventOf<'tool-input-invalid'>, 'type'>): RunEventBody[] {
  const { callId, toolName, input, message, agentPath } = event
  if (agentPath === undefined) return [{ type: 'tool-input-invalid', callId, toolName, input, message }]
  return [{ type: 'tool-input-complete', callId, toolName, input, agentPath }, { type: 'tool-error', callId, code: 'tool_failed', message, agentPath }]
}
