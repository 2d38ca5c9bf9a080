import type { RunEventBody } from '../events/run-event.ts'
import { serialiseOutput } from '../tools/serialise.ts'
import { closeBlock, newBlocks, writeText } from './blocks.ts'

/** A tool's output as the answer to the user. */
export interface SpeakingOutput {
  /** Says what a tool returned; the value its call is answered with. Rejects when the tool's iterable does. */
  readonly output: (value: unknown) => Promise<unknown>
  /** Says no more; returns what was said. */
  readonly end: () => string
}

export function speakingOutput ({ nextBlockId, say }: { readonly nextBlockId: () => string, readonly say: (event: RunEventBody) => void }): SpeakingOutput {
  const blocks = newBlocks(nextBlockId)
  let text = ''
  let ended = false

  return {
    async output (value) {
      if (!isIterable(value)) {
        speak(serialiseOutput(value))
        return value
      }
      for await (const piece of value) {
        if (ended) break // its time was up
        speak(String(piece))
      }
      return text
    },
    end () {
      if (!ended) tell((out) => { closeBlock(blocks, out) })
      ended = true
      return text
    }
  }

  function speak (delta: string): void {
    if (delta === '' || ended) return
    text += delta
    tell((out) => { writeText(blocks, delta, out) })
  }

  function tell (write: (out: RunEventBody[]) => void): void {
    const out: RunEventBody[] = []
    write(out)
    out.forEach(say)
  }
}

function isIterable (value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
