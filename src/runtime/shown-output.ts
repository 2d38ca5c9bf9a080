import type { ShownOutput } from '../agents/steps/step.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import { closeSoon } from '../streams/abortable.ts'
import { createShownArtifacts } from './shown-artifacts.ts'

/**
 * What a user is shown of a run inside of another: its text, blocks apart, its files and its progress. Its reasoning and
 * its calls are not shown, nor is what those below it say: only what is unsigned, or signed by a path of `depth`. Usage and
 * artifacts, of whomever, are handed over apart. Gives what the run gave.
 */
export async function * shownOutput<R> (events: AsyncIterator<Batch<RunEventBody>, R>, apart: (event: RunEventBody) => void, depth = 0): AsyncGenerator<ShownOutput, R> {
  const show = createShow(apart, depth)
  try {
    let next = await events.next()
    while (next.done !== true) {
      for (const event of next.value) yield * show(event)
      next = await events.next()
    }
    return next.value
  } finally {
    await closeSoon(events)
  }
}

function createShow (apart: (event: RunEventBody) => void, depth: number) {
  const shownArtifacts = createShownArtifacts()
  let hasText = false

  return function * show (event: RunEventBody): Generator<ShownOutput> {
    if (event.type === 'usage') apart(event)
    shownArtifacts(event).forEach(apart)
    if (event.agentPath !== undefined && event.agentPath.length !== depth) return
    switch (event.type) {
      case 'text-start': if (hasText) yield '\n\n'; break
      case 'text-delta':
        hasText = true
        yield event.delta
        break
      case 'file': yield { type: 'file', mediaType: event.mediaType, url: event.url, fileId: event.fileId, name: event.name }; break
      case 'progress': yield { type: 'progress', message: event.message, fraction: event.fraction }; break
      default: // The others are not shown.
    }
  }
}
