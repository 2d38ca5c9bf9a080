type BlockKind = 'text' | 'reasoning'

/**
 * Ids of a stream's blocks as JSON. A delta whose block was never opened belongs to the block that a snapshot left open
 * under an id of its own.
 */
export interface BlockIds {
  /** Of every open block but the last one used, where there is one at a time. */
  others: Map<string, string> | undefined
  readonly latest: Partial<Record<BlockKind, string>>
  lastBlock: string | undefined
  lastId: string
}

export function createBlockIds (): BlockIds {
  return { others: undefined, latest: {}, lastBlock: undefined, lastId: '' }
}

export function openBlock (ids: BlockIds, kind: BlockKind, blockId: string): string {
  const id = JSON.stringify(blockId)
  ids.latest[kind] = id
  use(ids, blockId, id)
  return id
}

export function idOfBlock (ids: BlockIds, kind: BlockKind, blockId: string): string {
  if (blockId !== ids.lastBlock) use(ids, blockId, ids.others?.get(blockId) ?? ids.latest[kind] ?? JSON.stringify(blockId))
  return ids.lastId
}

export function closeBlock (ids: BlockIds, kind: BlockKind, blockId: string): string {
  const id = idOfBlock(ids, kind, blockId)
  ids.others?.delete(blockId)
  ids.lastBlock = undefined
  if (ids.latest[kind] === id) delete ids.latest[kind]
  return id
}

function use (ids: BlockIds, blockId: string, id: string): void {
  if (ids.lastBlock !== undefined) {
    ids.others ??= new Map()
    ids.others.set(ids.lastBlock, ids.lastId)
  }
  ids.lastBlock = blockId
  ids.lastId = id
}
