import type { RunEvent } from '../events/run-event.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { WireProfile } from '../messages/wire.ts'
import type { BatchStream } from '../streams/batch.ts'

export interface EncodeOptions {
  /** What the message held before a continued run: the wire speaks of its calls again. */
  readonly initialParts?: readonly MessagePart[]
  /** Added to the message's metadata where a wire has such a thing. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** What the client understands, where a wire has profiles. */
  readonly profile?: WireProfile
}

/** One wire: what run events are on it. */
export interface Protocol {
  readonly name: string
  /** Of the reply, content type included. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The bytes of one reply, one string per batch. It ends after the terminal event; it throws what its source throws, and
   * where a cut would look like success also when the source ends without a terminal event, so that the connection breaks.
   */
  readonly encode: (events: BatchStream<RunEvent>, options?: EncodeOptions) => AsyncGenerator<string, void>
}
