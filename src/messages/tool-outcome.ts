import { toJsonSafe } from '../tools/serialise.ts'
import type { ToolPart } from './parts.ts'

/** What has run was allowed. */
export function allowed ({ approval }: ToolPart): Pick<ToolPart, 'approval'> {
  return approval === undefined ? {} : { approval: { ...approval, approved: true } }
}

/** A verdict stays with its call as long as clients show it. */
export function denied ({ approval }: ToolPart, reason: string | undefined): Pick<ToolPart, 'state' | 'approval'> {
  if (approval === undefined) return { state: 'output-denied' }
  return { state: 'output-denied', approval: { id: approval.id, approved: false, ...(reason === undefined ? {} : { reason }) } }
}

type Outcome = Pick<ToolPart, 'state'> & Partial<Pick<ToolPart, 'input' | 'rawInput' | 'output' | 'errorText' | 'preliminary' | 'approval'>>

/** The fields of an outcome replace those of the one before; what identifies and attributes the call stays. */
export function settle (part: ToolPart, outcome: Outcome): void {
  delete part.rawInput
  delete part.output
  delete part.errorText
  delete part.preliminary
  part.input = undefined
  Object.assign(part, outcome)
  if (part.input === undefined) delete (part as { input?: unknown }).input
}

/** How chat clients hold a call that could not be read: see the encoder's refused input. */
export function refusedInput (input: unknown, message: string, dynamic: boolean): Outcome {
  const value = toJsonSafe(input)
  return { state: 'output-error', input: value, errorText: message, ...(dynamic ? {} : { rawInput: JSON.stringify(value) }) }
}
