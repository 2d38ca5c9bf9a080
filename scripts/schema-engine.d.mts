import type { MigrationList, SchemaEngine, SchemasContainer, DiffTarget } from '@prisma/schema-engine-wasm'
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'

type Provider = 'sqlite' | 'postgresql'

export const prismaFolder: string
export function readSchema (provider: Provider): Promise<SchemasContainer>
export function readMigrations (provider: Provider): Promise<MigrationList>
export function createSchemaEngine (adapterFactory: SqlMigrationAwareDriverAdapterFactory, schema: SchemasContainer): Promise<SchemaEngine>
export function diff (engine: SchemaEngine, from: DiffTarget, to: DiffTarget): Promise<string>
export function applyMigrations (engine: SchemaEngine, migrationsList: MigrationList): Promise<readonly string[]>
