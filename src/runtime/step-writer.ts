import type { ShownOutput } from '../agents/steps/step.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { addUsage, type Usage } from '../events/usage.ts'
import { createGrowingText } from '../streams/growing-text.ts'
import { closeBlock, newBlocks, writeText } from './blocks.ts'

export interface StepWriter {
  /** What a step shows, as events. */
  readonly write: (output: ShownOutput) => RunEventBody[]
  /** Counts the usage among events. */
  readonly take: (events: RunEventBody[]) => RunEventBody[]
  readonly end: (step: number) => RunEventBody[]
  /** All text of all steps, a blank line between its blocks. */
  readonly text: () => string
}

/** Writes what the steps of a run show, and what they use. */
export function createStepWriter (nextBlockId: () => string): StepWriter {
  const blocks = newBlocks(nextBlockId)
  const text = createGrowingText()
  let isFirst = true
  let usage: Usage | undefined

  return {
    write (output) {
      const events: RunEventBody[] = []
      if (typeof output === 'string') {
        writeText(blocks, output, events)
        if (events.length > 1 && !isFirst) text.add('\n\n')
        text.add(output)
        isFirst = false
      } else {
        if (output.type === 'file') closeBlock(blocks, events)
        events.push(output)
      }
      return events
    },
    take (events) {
      for (const event of events) if (event.type === 'usage') usage = usage === undefined ? event.buckets : addUsage(usage, event.buckets)
      return events
    },
    end (step) {
      const events: RunEventBody[] = []
      closeBlock(blocks, events)
      events.push({ type: 'step-end', step, ...(usage === undefined ? {} : { usage }) })
      usage = undefined
      return events
    },
    text: () => text.toString()
  }
}
