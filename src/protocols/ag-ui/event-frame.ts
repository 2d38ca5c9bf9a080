import { dataFrame } from '../sse.ts'

export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>

/** What is beside the protocol's own fields, under our name: `metadata` is an open object of every event. */
export type Notes = Readonly<Record<string, unknown>>

export function frame (event: AgUiEvent, notes?: Notes): string {
  const hasNotes = notes !== undefined && Object.keys(notes).length > 0
  return dataFrame(JSON.stringify(hasNotes ? { ...event, metadata: { parley: notes } } : event))
}

/** An event of ours; its value is JSON. */
export function custom (name: string, value: unknown, notes?: Notes): string {
  return frame({ type: 'CUSTOM', name, value }, notes)
}
