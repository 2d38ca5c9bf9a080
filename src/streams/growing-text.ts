/**
 * A text that grows by many small pieces. Added one by one to a string they would each stay in memory as a node of it,
 * several times their own size, until somebody reads the whole.
 */
export interface GrowingText {
  add: (piece: string) => void
  toString: () => string
}

// Pieces that are held one by one before they become one.
const foldAt = 512

export function createGrowingText (): GrowingText {
  let text = ''
  let pieces: string[] = []

  return {
    add (piece) {
      pieces.push(piece)
      if (pieces.length >= foldAt) fold()
    },
    toString () {
      fold()
      return text
    }
  }

  function fold (): void {
    text += pieces.join('')
    pieces = []
  }
}
