import { z } from 'zod'
import type { ErrorIssue } from '../../errors.ts'
import type { ClientVerdict } from '../../messages/turn-request.ts'
import { maxReasonLength } from '../ai-sdk/decode-message.ts'

/** What a client answers an interrupt with, as far as it is the protocol's; what a verdict is, is ours. */
export const resumeEntrySchema = z.looseObject({
  interruptId: z.string().min(1).max(200),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional()
})

export type ResumeEntry = z.output<typeof resumeEntrySchema>

const reason = z.string().max(maxReasonLength).refine((text) => !text.includes('\0'), 'NUL characters cannot be stored: remove them').nullish()
const verdictSchema = z.object({ approved: z.boolean(), reason }, 'expected { approved, reason? }')

/** The verdicts that answers to interrupts are: `resolved` says which, `cancelled` denies. Or what is wrong with them. */
export function decodeResume (entries: readonly ResumeEntry[]): { readonly verdicts: readonly ClientVerdict[], readonly issues: readonly ErrorIssue[] } {
  const verdicts: ClientVerdict[] = []
  const issues: ErrorIssue[] = []
  for (const [index, { interruptId: approvalId, status, payload }] of entries.entries()) {
    if (status === 'cancelled') {
      verdicts.push({ approvalId, approved: false })
      continue
    }
    // Never taken for granted: a payload that does not say so approves nothing.
    const parsed = verdictSchema.safeParse(payload)
    if (parsed.success) verdicts.push({ approvalId, approved: parsed.data.approved, reason: parsed.data.reason ?? undefined })
    else issues.push(...parsed.error.issues.map((issue) => ({ path: ['resume', index, 'payload', ...issue.path.map(String)].join('.'), message: issue.message })))
  }
  return { verdicts, issues }
}
