import { z } from 'zod'
import { describe, json } from './describe.ts'
import { approvalExample, runId } from './examples.ts'
import { approvalShape } from './shapes.ts'

export const approvalReference = {
  list: describe({
    id: 'listApprovals', tag: 'Approvals', summary: 'The calls that a thread waits with until somebody allows or denies them',
    answers: { 200: json('The approvals, in the order they were asked for', z.object({ items: z.array(approvalShape), nextCursor: z.null() }), { items: [approvalExample], nextCursor: null }) },
    errors: ['not_found']
  }),
  decide: describe({
    id: 'decideApproval', tag: 'Approvals', summary: 'Allow or deny a call, once',
    description: 'When it was the last thing its message waited for, the message goes on in a new run, whose id is `resumedRunId`. ' +
      'The same verdict again changes nothing. Another or a late one is a conflict, with `decided`, `expired` or `superseded` as `details.reason`.',
    body: { example: { approved: false, reason: 'Not on a Friday.' } },
    answers: { 200: json('The approval as it is now', approvalShape.extend({ resumedRunId: z.string().nullable() }), { ...approvalExample, status: 'denied', reason: 'Not on a Friday.', decidedAt: '2026-03-01T09:31:00.000Z', resumedRunId: runId }) },
    errors: ['not_found', 'conflict']
  })
}
