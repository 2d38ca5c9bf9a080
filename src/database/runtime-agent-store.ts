import { raw, sqltag as sql } from '@prisma/client/runtime/client'
import type { RuntimeAgent, RuntimeAgentStore, RuntimeSettings } from '../runtime-agents/runtime-agent-store.ts'
import type { StoreContext } from './client.ts'
import type { Executor } from './executor.ts'
import type { RuntimeAgent as Row } from './generated/sqlite/client.ts'
import { storable } from './text.ts'

const counted = 'runtime-agents'
const columns = raw(['id', 'tenantId', 'createdBy', 'base', 'name', 'description', 'instructions', 'model', 'tools', 'suggestions', 'active', 'revision', 'createdAt', 'updatedAt']
  .map((name) => `a."${name}"`).join(', '))

export function createRuntimeAgentStore ({ driver }: Pick<StoreContext, 'driver'>): RuntimeAgentStore {
  return {
    revision: async () => {
      const [row] = await driver.query<{ number: number }>(sql`SELECT number FROM "Revision" WHERE name = ${counted}`)
      return row?.number ?? 0
    },

    all: async () => (await driver.query<Row>(sql`SELECT ${columns} FROM "RuntimeAgent" a ORDER BY a.id`)).map(toRuntimeAgent),

    insert: ({ tenantId, userId }, id, settings) => driver.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const now = new Date()
      const row: Row = { ...rowOf(settings), id, tenantId, createdBy: userId, revision, createdAt: now, updatedAt: now }
      const { base, name, description, instructions, model, tools, suggestions, active } = row
      await tx.execute(sql`INSERT INTO "RuntimeAgent" (id, "tenantId", "createdBy", base, name, description, instructions, model, tools, suggestions, active, revision, "createdAt", "updatedAt")
        VALUES (${id}, ${tenantId}, ${userId}, ${base}, ${name}, ${description}, ${instructions}, ${model}, ${tools}, ${suggestions}, ${active}, ${revision}, ${now}, ${now})`)
      return toRuntimeAgent(row)
    }),

    update: ({ tenantId }, { id, revision: seen }, settings) => driver.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const { base, name, description, instructions, model, tools, suggestions, active } = rowOf(settings)
      await tx.execute(sql`UPDATE "RuntimeAgent" SET base = ${base}, name = ${name}, description = ${description}, instructions = ${instructions}, model = ${model},
        tools = ${tools}, suggestions = ${suggestions}, active = ${active}, revision = ${revision}, "updatedAt" = ${new Date()}
        WHERE id = ${id} AND "tenantId" = ${tenantId} AND revision = ${seen}`)
      const [row] = await tx.query<Row>(sql`SELECT ${columns} FROM "RuntimeAgent" a WHERE a.id = ${id} AND a.revision = ${revision}`)
      return row === undefined ? undefined : toRuntimeAgent(row)
    }),

    remove: ({ tenantId }, id) => driver.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const removed = await tx.execute(sql`DELETE FROM "RuntimeAgent" WHERE id = ${id} AND "tenantId" = ${tenantId}`)
      return removed > 0 ? revision : undefined
    })
  }
}

/** Whoever changes something waits here for whoever was first, until that is to be seen: revisions are seen in their order. */
async function nextRevision (tx: Executor): Promise<number> {
  const [row] = await tx.query<{ number: number }>(sql`INSERT INTO "Revision" (name, number) VALUES (${counted}, 1)
    ON CONFLICT (name) DO UPDATE SET number = "Revision".number + 1 RETURNING number`)
  if (row === undefined) throw new Error('A change has no revision')
  return row.number
}

function rowOf (settings: RuntimeSettings): Omit<Row, 'id' | 'tenantId' | 'createdBy' | 'revision' | 'createdAt' | 'updatedAt'> {
  const { name, description, instructions, tools, ...rest } = settings
  return { ...rest, name: storable(name), description: textOf(description), instructions: textOf(instructions), tools: JSON.stringify(tools) }
}

function textOf (text: string | null): string | null {
  return text === null ? null : storable(text)
}

/** Only we write this table, so what is in `tools` are names; hence the `as`. */
function toRuntimeAgent (row: Row): RuntimeAgent {
  return { ...row, tools: JSON.parse(row.tools) as string[] }
}
