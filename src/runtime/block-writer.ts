import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

export interface BlockWriter {
  text: (delta: string, out: RunEventBody[]) => void
  reasoning: (delta: string, out: RunEventBody[]) => void
  close: (out: RunEventBody[]) => void
  /** Closes a block of reasoning with what is kept beside it; one that showed nothing is opened for it. */
  closeReasoning: (providerMetadata: RunEventOf<'reasoning-end'>['providerMetadata'], out: RunEventBody[]) => void
}

/** Turns deltas into blocks: opens one before its first delta, closes it when another kind begins. */
export function createBlockWriter (nextBlockId: () => string): BlockWriter {
  let kind: 'text' | 'reasoning' | undefined
  let blockId = ''

  return {
    text (delta, out) {
      if (kind !== 'text') open('text', out)
      out.push({ type: 'text-delta', blockId, delta })
    },
    reasoning (delta, out) {
      if (kind !== 'reasoning') open('reasoning', out)
      out.push({ type: 'reasoning-delta', blockId, delta })
    },
    close,
    closeReasoning (providerMetadata, out) {
      if (kind !== 'reasoning') open('reasoning', out)
      kind = undefined
      out.push({ type: 'reasoning-end', blockId, providerMetadata })
    }
  }

  function open (next: 'text' | 'reasoning', out: RunEventBody[]): void {
    close(out)
    kind = next
    blockId = nextBlockId()
    out.push({ type: `${next}-start`, blockId })
  }

  function close (out: RunEventBody[]): void {
    if (kind !== undefined) out.push({ type: `${kind}-end`, blockId })
    kind = undefined
  }
}
