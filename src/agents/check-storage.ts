import { storageName, type CustomStorage } from '../storage/define-storage.ts'
import type { Agent, DefinedAgent } from './agent.ts'

/** What does not go together with where an agent keeps its threads. */
export function storageProblems ({ storage, fileUpload, memory }: Pick<DefinedAgent, 'storage' | 'fileUpload' | 'memory'>): string[] {
  if (storage === 'database') return []
  return [
    ...fileUpload ? [`fileUpload: files belong to threads of the database, and those of this agent are not in it (storage: ${storageName(storage)})`] : [],
    ...storage === 'none' && memory !== 'none' ? ['memory: an agent that keeps no threads has nothing to remember (storage: none)'] : []
  ]
}

/** Agents whose storage has the name of another one: their threads would be sought in the wrong place. */
export function storageClashes (agents: readonly Agent[]): ReadonlyArray<{ readonly agent: Agent, readonly reason: string }> {
  const holders = new Map<string, { readonly storage: CustomStorage, readonly key: string }>()
  return agents.flatMap((agent) => {
    const { storage, key } = agent
    if (typeof storage === 'string') return []
    const holder = holders.get(storage.name)
    if (holder === undefined) holders.set(storage.name, { storage, key })
    return holder === undefined || holder.storage.open === storage.open ? [] : [{ agent, reason: `storage: agent "${holder.key}" has another storage named "${storage.name}"` }]
  })
}
