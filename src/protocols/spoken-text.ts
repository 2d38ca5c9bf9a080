import type { RunEvent } from '../events/run-event.ts'
import { isMemberNarration } from '../messages/attribution.ts'
import type { MessagePart } from '../messages/parts.ts'

/**
 * Blocks of text or reasoning as one run of characters, for wires that know no blocks: what an event adds to it. A blank
 * line stands between two blocks; what members say is not part of it.
 */
export function createSpokenText (kind: 'text' | 'reasoning' = 'text'): (event: RunEvent) => string {
  let begun = false
  let apart = false

  return (event) => {
    if (isMemberNarration(event)) return ''
    if (event.type === `${kind}-start`) apart = begun
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') return event.type === `${kind}-delta` ? say(event.delta) : ''
    return event.type === 'snapshot' ? sayParts(event.parts as MessagePart[]) : '' // made by an assembler
  }

  function say (text: string): string {
    if (text === '') return ''
    const said = apart ? `\n\n${text}` : text
    apart = false
    begun = true
    return said
  }

  function sayParts (parts: readonly MessagePart[]): string {
    let said = ''
    for (const part of parts) {
      if (part.type !== kind) continue
      apart = begun
      said += say(part.text)
    }
    return said
  }
}
