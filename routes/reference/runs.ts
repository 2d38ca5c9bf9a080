import { z } from 'zod'
import { describe, json, text } from './describe.ts'
import { eventStreamExample, runExample, runId } from './examples.ts'
import { runShape } from './shapes.ts'

export const runReference = {
  get: describe({
    id: 'getRun', tag: 'Runs', summary: 'Read one run',
    answers: { 200: json('The run', runShape, runExample) },
    errors: ['not_found']
  }),
  events: describe({
    id: 'followRun', tag: 'Runs', summary: 'Follow every event of a run as it happens',
    description: 'From the event behind `Last-Event-ID` or `after` on; from the first one without them. Events are kept for a while after the end of a run.',
    answers: { 200: text('The events, each with its position as `id`', eventStreamExample, 'text/event-stream') },
    errors: ['not_found']
  }),
  stop: describe({
    id: 'stopRun', tag: 'Runs', summary: 'Stop a run; one that has ended stays as it is',
    answers: { 200: json('The run', z.object({ runId: z.string() }), { runId }) },
    errors: ['not_found']
  })
}
