import { AppError } from '../errors.ts'
import type { Storage, ThreadStores } from './storage.ts'

// As long as a query of the service’s own database may take.
const defaultPatienceMs = 30_000

type Methods = { readonly [Name in keyof ThreadStores]: Readonly<Record<RequiredKeys<ThreadStores[Name]>, true>> }
type RequiredKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]

const methods: Methods = {
  threads: {
    create: true, get: true, locate: true, list: true, update: true, remove: true, removeAll: true,
    history: true, siblings: true, removeMessage: true, restoreMessage: true, rate: true, unrate: true, usage: true
  },
  turns: {
    begin: true, checkpoint: true, finish: true, suggestTitle: true, run: true, activeRun: true, renewLeases: true, runningRuns: true, messageOfRun: true, interrupt: true
  },
  approvals: { find: true, pending: true, expired: true },
  artifacts: { list: true },
  memories: { recall: true, remember: true }
}

/**
 * What code of others opened, bound, so that classes do too. Whatever fails in it fails as a promise, and what does not
 * answer is storage_unavailable after a time: nobody waits for ever, and so neither does the end of the process. Throws
 * configuration_error naming every method that is missing.
 */
export function checkedStorage (name: string, opened: unknown, { patienceMs = defaultPatienceMs }: { readonly patienceMs?: number | undefined } = {}): Storage {
  const missing: string[] = []
  const stores = Object.fromEntries(Object.entries(methods).map(([store, names]) => [store, bound(memberOf(opened, store), Object.keys(names), `${store}.`)]))
  const storage = { ...stores, ...bound(opened, ['ping', 'close'], '') }
  if (missing.length > 0) throw new AppError('configuration_error', `What the storage "${name}" opens has no ${missing.join(', ')}.`)
  return storage as unknown as Storage // nothing is missing

  function bound (from: unknown, names: readonly string[], path: string): object {
    return Object.fromEntries(names.map((method) => {
      const value = memberOf(from, method)
      if (typeof value !== 'function') {
        missing.push(path + method)
        return [method, undefined]
      }
      return [method, async (...args: unknown[]) => await inTime(value.apply(from, args), patienceMs, () => new AppError('storage_unavailable', `The storage "${name}" did not answer in time. Try again shortly.`))]
    }))
  }
}

/** What is told after its time is ignored. */
async function inTime (answer: unknown, patienceMs: number, late: () => Error): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const outOfPatience = new Promise<never>((_resolve, reject) => { timer = setTimeout(() => { reject(late()) }, patienceMs) })
  try {
    return await Promise.race([answer, outOfPatience])
  } finally {
    clearTimeout(timer)
  }
}

function memberOf (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}
