import { Readable } from 'node:stream'

// What is taken from the source before the reader has taken any of it.
const maxCharacters = 16_384

export interface GatherOptions {
  /** Called when the end comes right after the chunk that is handed over next, which has so many characters. */
  readonly beforeLast?: ((characters: number) => void) | undefined
}

/**
 * A Readable of text whose every chunk is all that its source gave within one turn of the event loop, so that pieces
 * which come together cost one write. It pulls no more than its reader takes, and closes the source when that one
 * leaves. An error of the source destroys it, after what came before was handed over.
 */
export function gather (source: AsyncIterable<string>, { beforeLast }: GatherOptions = {}): Readable {
  const iterator = source[Symbol.asyncIterator]()
  let gathered = ''
  let flushing: NodeJS.Immediate | undefined
  let pulling = false
  let wanted = false

  const readable = new Readable({
    objectMode: true, // strings stay strings, and one piece waits at a time
    highWaterMark: 1,
    read () {
      wanted = true
      if (!pulling) void pull()
    },
    destroy (error, done) {
      clearImmediate(flushing)
      // Not awaited: a source that waits for its upstream answers only after that wait, and its own signal ends it.
      void iterator.return?.()?.catch(() => {}) // its failure has nobody left to read it
      done(error)
    }
  })
  return readable

  /** Ends when nobody wants more; the next read begins again. */
  async function pull (): Promise<void> {
    pulling = true
    try {
      while (hasRoom()) {
        const { done, value } = await iterator.next()
        if (readable.destroyed) return
        if (done === true) return finish()
        gathered += value
        flushing ??= setImmediate(flush)
      }
    } catch (error) {
      if (readable.destroyed) return
      handOver()
      readable.destroy(error as Error)
    } finally {
      pulling = false
    }
  }

  function hasRoom (): boolean {
    return wanted && gathered.length < maxCharacters
  }

  function flush (): void {
    flushing = undefined
    handOver()
    if (wanted && !pulling && !readable.destroyed) void pull()
  }

  function finish (): void {
    if (gathered !== '') beforeLast?.(gathered.length)
    handOver()
    readable.push(null)
  }

  function handOver (): void {
    clearImmediate(flushing)
    flushing = undefined
    const text = gathered
    gathered = ''
    if (text !== '') wanted = readable.push(text)
  }
}
