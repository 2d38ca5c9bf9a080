import { z } from 'zod'
import { builtInStorages, isCustomStorage, storageNeeds, type StorageChoice } from '../storage/define-storage.ts'
import { didYouMean } from './suggest.ts'

const names: readonly string[] = builtInStorages

export const storageSchema = z.custom<StorageChoice>((value) => (typeof value === 'string' && names.includes(value)) || isCustomStorage(value), { error: ({ input }) => wrongStorage(input) }).default('database')

function wrongStorage (input: unknown): string {
  if (typeof input === 'string') return `unknown storage "${input}", expected ${names.join(', ')}, or one made by defineStorage.${didYouMean(input, names)}`
  return `expected ${names.join(', ')}, or a storage made by defineStorage, which needs ${storageNeeds}`
}
