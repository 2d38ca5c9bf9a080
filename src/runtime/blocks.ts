import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

type Kind = 'text' | 'reasoning'

/** The block of text or reasoning that is being written: opened before its first delta, closed when another kind begins. */
export interface Blocks {
  readonly nextBlockId: () => string
  /** Undefined while none is open. */
  kind: Kind | undefined
  blockId: string
}

export function newBlocks (nextBlockId: () => string): Blocks {
  return { nextBlockId, kind: undefined, blockId: '' }
}

export function writeText (blocks: Blocks, delta: string, out: RunEventBody[]): void {
  if (blocks.kind !== 'text') openBlock(blocks, 'text', out)
  out.push({ type: 'text-delta', blockId: blocks.blockId, delta })
}

export function writeReasoning (blocks: Blocks, delta: string, out: RunEventBody[]): void {
  if (blocks.kind !== 'reasoning') openBlock(blocks, 'reasoning', out)
  out.push({ type: 'reasoning-delta', blockId: blocks.blockId, delta })
}

export function closeBlock (blocks: Blocks, out: RunEventBody[]): void {
  const { kind, blockId } = blocks
  if (kind !== undefined) out.push({ type: `${kind}-end`, blockId })
  blocks.kind = undefined
}

/** Closes a block of reasoning with what is kept beside it; one that showed nothing is opened for it. */
export function closeReasoning (blocks: Blocks, providerMetadata: RunEventOf<'reasoning-end'>['providerMetadata'], out: RunEventBody[]): void {
  if (blocks.kind !== 'reasoning') openBlock(blocks, 'reasoning', out)
  blocks.kind = undefined
  out.push({ type: 'reasoning-end', blockId: blocks.blockId, providerMetadata })
}

function openBlock (blocks: Blocks, kind: Kind, out: RunEventBody[]): void {
  closeBlock(blocks, out)
  blocks.kind = kind
  blocks.blockId = blocks.nextBlockId()
  out.push({ type: `${kind}-start`, blockId: blocks.blockId })
}
