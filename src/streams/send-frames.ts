import type { Writable } from 'node:stream'

// What is taken from the source before any of it could be written.
const maxCharacters = 16_384

export interface SendFramesOptions {
  /** What is written whenever the source has said nothing for so many milliseconds. */
  readonly silence?: { readonly everyMs: number, readonly beat: string } | undefined
  /** The source has failed. What came before was written, and the sink is destroyed: an end would look like success. */
  readonly onFailure: (error: unknown) => void
}

/** One answer on its way. Not variables that its functions share: those would be made anew for each. */
interface Sending {
  readonly iterator: AsyncIterator<string>
  readonly sink: Writable
  readonly onFailure: (error: unknown) => void
  readonly onDrain: () => void
  readonly onClose: () => void
  /** One for the whole answer, put back by every piece: a timer of its own would cost more than the piece. */
  silence: NodeJS.Timeout | undefined
  flushing: NodeJS.Immediate | undefined
  gathered: string
  pulling: boolean
  /** The sink takes no more for now. */
  full: boolean
  over: boolean
}

/**
 * Writes the text of a source to a response, or another sink, and ends it. All that the source gives within one turn of
 * the event loop is one write, and the last of it goes with the end. It takes no more from the source than the sink
 * takes, and closes it when the sink closes. Straight to the sink: a stream between them would be a seventh more of what
 * is held of an idle answer.
 */
export function sendFrames (source: AsyncIterable<string>, sink: Writable, { silence, onFailure }: SendFramesOptions): void {
  const sending: Sending = {
    sink, onFailure, iterator: source[Symbol.asyncIterator](), silence: undefined, flushing: undefined, gathered: '', pulling: false, full: false, over: false,
    onDrain: () => { goOn(sending) },
    onClose: () => { leave(sending) }
  }
  sink.on('drain', sending.onDrain).once('close', sending.onClose)
  if (sink.destroyed) return leave(sending)
  if (silence !== undefined) sending.silence = setTimeout(beat, silence.everyMs, sending, silence.beat)
  void pull(sending)
}

/** Ends when there is no room for more; whoever makes room begins again. */
async function pull (sending: Sending): Promise<void> {
  sending.pulling = true
  try {
    while (!sending.full && sending.gathered.length < maxCharacters) {
      const { done, value } = await sending.iterator.next()
      if (sending.over) return
      if (done === true) return finish(sending)
      sending.gathered += value
      sending.silence?.refresh()
      sending.flushing ??= setImmediate(flush, sending)
    }
  } catch (error) {
    fail(sending, error)
  } finally {
    sending.pulling = false
  }
}

function flush (sending: Sending): void {
  sending.flushing = undefined
  write(sending, sending.gathered)
  sending.gathered = ''
  if (!sending.full) goOn(sending)
}

function goOn (sending: Sending): void {
  sending.full = false
  if (!sending.pulling && !sending.over) void pull(sending)
}

function write (sending: Sending, text: string): void {
  if (text !== '' && !sending.sink.destroyed) sending.full = !sending.sink.write(text)
}

/** Nothing is half said while the source is asked, so this comes between two whole pieces. */
function beat (sending: Sending, text: string): void {
  if (sending.pulling && !sending.full && sending.gathered === '') write(sending, text)
  sending.silence?.refresh()
}

function finish (sending: Sending): void {
  settle(sending)
  sending.sink.end(sending.gathered)
}

function fail (sending: Sending, error: unknown): void {
  if (sending.over) return
  settle(sending)
  const { sink, gathered, onFailure } = sending
  // Only when all of it has left: a response keeps what it is given in one tick, and what a slow reader has not taken.
  if (!sink.destroyed) sink.write(gathered, () => { sink.destroy() })
  onFailure(error)
}

function leave (sending: Sending): void {
  if (sending.over) return
  settle(sending)
  // Not awaited: a source that waits for its upstream answers only after that wait, and its own signal ends it.
  void sending.iterator.return?.()?.catch(() => {}) // its failure has nobody left to read it
}

function settle (sending: Sending): void {
  const { sink, silence, flushing, onDrain, onClose } = sending
  sending.over = true
  clearImmediate(flushing)
  clearTimeout(silence)
  sink.off('drain', onDrain).off('close', onClose)
}
