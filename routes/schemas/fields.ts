import { z } from 'zod'

/** Text that every database can keep. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must not contain the NUL character')

export const threadIdField = z.string().regex(/^[A-Za-z0-9_-]{8,64}$/, 'expected 8 to 64 letters, digits, "_" or "-"')

/** Ids in paths are only looked up: what cannot be one does not exist. */
const id = text.max(200)
export const agentParams = z.object({ agentId: id })
export const threadParams = z.object({ threadId: id })
export const messageParams = z.object({ threadId: id, messageId: id })
export const fileParams = z.object({ threadId: id, fileId: id })
export const runParams = z.object({ runId: id })
export const runtimeAgentParams = z.object({ runtimeAgentId: id })
export const approvalParams = z.object({ approvalId: id })

export const limitField = z.coerce.number().int().min(1).max(100).default(50)
export const pageQuery = z.object({ limit: limitField, cursor: text.optional() })

export const metadataField = z.record(z.string(), z.unknown())
export const flagField = z.enum(['true', 'false']).transform((value) => value === 'true')
export const titleField = text.trim().min(1).max(200)
