import { z } from 'zod'
import { approvalView } from '../../src/approvals/approval-view.ts'
import { approvalReference } from '../reference/approvals.ts'
import { approvalParams, text, threadParams } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const verdictBody = z.object({ approved: z.boolean(), reason: text.max(2_000).nullish() })

const approvals: RoutePlugin = async (app) => {
  app.get('/threads/:threadId/approvals', { schema: { ...approvalReference.list, params: threadParams } }, async (request) => {
    const items = await app.approvals.list(request.principal, request.params.threadId)
    return { items: items.map(approvalView), nextCursor: null } // a thread waits for a handful at most
  })

  app.post('/approvals/:approvalId', { schema: { ...approvalReference.decide, params: approvalParams, body: verdictBody } }, async (request) => {
    const { approved, reason } = request.body
    const { approval, runId } = await app.approvals.decide(request.principal, request.params.approvalId, { approved, reason: reason ?? undefined })
    return { ...approvalView(approval), resumedRunId: runId ?? null }
  })
}

export default approvals
