import type { Writable } from 'node:stream'

// What is taken from the source before any of it could be written.
const maxCharacters = 16_384

export interface SendFramesOptions {
  /** What is written whenever the source has said nothing for so many milliseconds. */
  readonly silence?: { readonly everyMs: number, readonly beat: string } | undefined
  /** The source has failed. What came before was written, and the sink is destroyed: an end would look like success. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Writes the text of a source to a response, or another sink, and ends it. All that the source gives within one turn of
 * the event loop is one write, and the last of it goes with the end. It takes no more from the source than the sink
 * takes, and closes it when the sink closes. Straight to the sink: a stream between them is as large as all else that
 * is held of an idle answer.
 */
export function sendFrames (source: AsyncIterable<string>, sink: Writable, { silence, onFailure }: SendFramesOptions): void {
  const iterator = source[Symbol.asyncIterator]()
  let gathered = ''
  let flushing: NodeJS.Immediate | undefined
  let pulling = false
  let full = false
  let over = false
  // One for the whole answer, put back by every piece: a timer of its own would cost more than the piece.
  const timer = silence === undefined ? undefined : setTimeout(beat, silence.everyMs)
  sink.on('drain', goOn).once('close', leave)
  if (sink.destroyed) leave()
  else void pull()

  /** Ends when there is no room for more; whoever makes room begins again. */
  async function pull (): Promise<void> {
    pulling = true
    try {
      while (hasRoom()) {
        const { done, value } = await iterator.next()
        if (over) return
        if (done === true) return finish()
        gathered += value
        timer?.refresh()
        flushing ??= setImmediate(flush)
      }
    } catch (error) {
      fail(error)
    } finally {
      pulling = false
    }
  }

  function hasRoom (): boolean {
    return !full && gathered.length < maxCharacters
  }

  function flush (): void {
    flushing = undefined
    write(gathered)
    gathered = ''
    if (!full) goOn()
  }

  function goOn (): void {
    full = false
    if (!pulling && !over) void pull()
  }

  function write (text: string): void {
    if (text !== '' && !sink.destroyed) full = !sink.write(text)
  }

  /** Nothing is half said while the source is asked, so this comes between two whole pieces. */
  function beat (): void {
    if (pulling && !full && gathered === '') write(silence?.beat ?? '')
    timer?.refresh()
  }

  function finish (): void {
    settle()
    sink.end(gathered)
  }

  function fail (error: unknown): void {
    if (over) return
    settle()
    write(gathered)
    sink.destroy()
    onFailure(error)
  }

  function leave (): void {
    if (over) return
    settle()
    // Not awaited: a source that waits for its upstream answers only after that wait, and its own signal ends it.
    void iterator.return?.()?.catch(() => {}) // its failure has nobody left to read it
  }

  function settle (): void {
    over = true
    clearImmediate(flushing)
    clearTimeout(timer)
    sink.off('drain', goOn).off('close', leave)
  }
}
