import { join, sqltag as sql } from '@prisma/client/runtime/client'
import { artifactsIn } from '../artifacts/artifacts-in.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { Executor } from './executor.ts'
import { storable } from './text.ts'

export interface MessagePlace {
  readonly threadKey: string
  readonly messageId: string
  /** The run that wrote the message; its agent made what no member did. */
  readonly runId: string
}

/** Writes what a message contains into the list of its thread, with the message. What earlier runs of it made is there already. */
export async function insertArtifacts (tx: Executor, { threadKey, messageId, runId }: MessagePlace, parts: readonly MessagePart[], now: Date): Promise<void> {
  const artifacts = artifactsIn(parts)
  if (artifacts.length === 0) return
  const rows = artifacts.map(({ id, name, data, callId, sourceCallId, agentPath }) => {
    const maker = agentPath.at(-1)?.agentId
    const agentId = maker === undefined ? sql`(SELECT r."agentId" FROM "Run" r WHERE r.id = ${runId})` : sql`${maker}`
    return sql`(${threadKey}, ${id}, ${messageId}, ${runId}, ${agentId}, ${name}, ${storable(callId)}, ${sourceCallId === undefined ? null : storable(sourceCallId)},
      ${JSON.stringify(agentPath)}, ${JSON.stringify(data)}, ${now})`
  })
  await tx.execute(sql`INSERT INTO "Artifact" ("threadKey", id, "messageId", "runId", "agentId", name, "callId", "sourceCallId", "agentPath", data, "createdAt")
    VALUES ${join(rows)} ON CONFLICT DO NOTHING`)
}
