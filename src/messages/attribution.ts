import { toJsonSafe } from '../tools/serialise.ts'
import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

export type ProviderMetadata = Record<string, Record<string, unknown>>

/**
 * Who made a tool call, as history and the wire carry it: a member's calls name the member and the call it works for, a
 * delegation that hands over names its target, the root's own calls say nothing.
 */
export function attributionOf (event: Pick<RunEventOf<'tool-input-complete'>, 'agentPath' | 'attribution'>, handoff: string | undefined): ProviderMetadata | undefined {
  const member = event.agentPath?.at(-1)
  const parley = {
    ...event.attribution,
    ...(handoff === undefined ? {} : { handoff }),
    ...(member === undefined ? {} : { agent: member.name, agentPath: event.agentPath, parentToolCallId: member.toolCallId })
  }
  // toJsonSafe of a plain object is a plain object.
  return Object.keys(parley).length === 0 ? undefined : { parley: toJsonSafe(parley) as Record<string, unknown> }
}

/** A part that shows what came of another call: for people, who are given it beside the call's own result. */
export function isShownResult ({ callProviderMetadata }: { readonly callProviderMetadata?: ProviderMetadata | undefined }): boolean {
  return callProviderMetadata?.['parley']?.['artifactOf'] !== undefined
}

/** Text, reasoning and steps of a member: never parts of the message of the agent it works for. */
export function isMemberNarration (event: RunEventBody): boolean {
  if (event.agentPath === undefined || event.agentPath.length === 0) return false
  return event.type.startsWith('text-') || event.type.startsWith('reasoning-') || event.type.startsWith('step-')
}
