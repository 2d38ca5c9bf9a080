export type BlockKind = 'text' | 'reasoning'

export interface OpenBlocks {
  open: (kind: BlockKind, blockId: string, messageId: string) => string
  /** The id of a block's message, as JSON. */
  idOf: (kind: BlockKind, blockId: string) => string
  close: (kind: BlockKind, blockId: string) => string
}

/**
 * Which message each open block is. What speaks of a block that was never opened goes on with the block of that kind
 * that a snapshot left open under an id of its own.
 */
export function createOpenBlocks (): OpenBlocks {
  const messages = new Map<string, string>()
  const latest: Partial<Record<BlockKind, string>> = {}

  return {
    open (kind, blockId, messageId) {
      const id = JSON.stringify(messageId)
      messages.set(blockId, id)
      latest[kind] = id
      return id
    },
    idOf,
    close (kind, blockId) {
      const id = idOf(kind, blockId)
      messages.delete(blockId)
      return id
    }
  }

  function idOf (kind: BlockKind, blockId: string): string {
    return messages.get(blockId) ?? latest[kind] ?? JSON.stringify(blockId)
  }
}
