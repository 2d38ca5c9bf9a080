import { sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { newId } from '../ids.ts'
import type { Owner, Placement, Placements } from '../storage/placements.ts'
import type { StoreContext } from './client.ts'
import { WriteConflict, retrying } from './failures.ts'

export function createPlacementStore ({ driver }: StoreContext): Placements {
  const find = async (owner: Owner, threadId: string) => (await driver.query<Placement>(sql`SELECT p.storage, p.claim FROM "Placement" p WHERE ${placed(owner, threadId)}`))[0]

  return {
    find,
    storagesOf: async (tenantId, threadId) => names(await driver.query(sql`SELECT DISTINCT storage FROM "Placement" WHERE "tenantId" = ${tenantId} AND "threadId" = ${threadId}`)),
    storageOfItem: async (id) => {
      const [row] = await driver.query<Named>(sql`SELECT p.storage FROM "PlacedItem" i
        JOIN "Placement" p ON p."tenantId" = i."tenantId" AND p."ownerId" = i."ownerId" AND p."threadId" = i."threadId" WHERE i.id = ${id}`)
      return row?.storage
    },
    claim: (owner, threadId, storage) => retrying(async () => {
      const { tenantId, ownerId } = owner
      const [taken] = await driver.query<Placement>(sql`INSERT INTO "Placement" ("tenantId", "ownerId", "threadId", storage, claim) VALUES (${tenantId}, ${ownerId}, ${threadId}, ${storage}, ${newId()})
        ON CONFLICT ("tenantId", "ownerId", "threadId") DO UPDATE SET claim = excluded.claim WHERE "Placement".storage = excluded.storage RETURNING storage, claim`)
      const held = taken ?? await find(owner, threadId)
      if (held === undefined) throw new WriteConflict('The id was given back meanwhile')
      return held
    }),
    addItems: (owner, threadId, ids) => driver.transaction(async (tx) => {
      for (const id of ids) {
        await tx.execute(sql`INSERT INTO "PlacedItem" (id, "tenantId", "ownerId", "threadId") SELECT ${id}, p."tenantId", p."ownerId", p."threadId" FROM "Placement" p
          WHERE ${placed(owner, threadId)} ON CONFLICT DO NOTHING`)
      }
    }),
    release: async (owner, threadId, claim) => { await driver.execute(sql`DELETE FROM "Placement" AS p WHERE ${placed(owner, threadId)} AND p.claim = ${claim}`) },
    ofOwner: ({ tenantId, ownerId }) => driver.query(sql`SELECT p."threadId", p.storage, p.claim FROM "Placement" p WHERE p."tenantId" = ${tenantId} AND p."ownerId" = ${ownerId}`),
    storages: async () => names(await driver.query(sql`SELECT DISTINCT storage FROM "Placement"`))
  }
}

interface Named { readonly storage: string }

function names (rows: readonly Named[]): string[] {
  return rows.map(({ storage }) => storage)
}

function placed ({ tenantId, ownerId }: Owner, threadId: string): Sql {
  return sql`p."tenantId" = ${tenantId} AND p."ownerId" = ${ownerId} AND p."threadId" = ${threadId}`
}
