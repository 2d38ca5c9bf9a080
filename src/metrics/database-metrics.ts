import { Histogram, type Registry } from 'prom-client'

/** Gives an object whose stores do the same as before, and are timed. What is no store is left as it is. */
export type TimeStores = <T extends object>(database: T) => T

type Method = (...args: readonly unknown[]) => unknown

export function createDatabaseMetrics (registry: Registry): TimeStores {
  const duration = new Histogram({
    name: 'parley_database_seconds', help: 'Time of operations of the database and other storages, by store method', labelNames: ['operation'], registers: [registry],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
  })

  return <T extends object>(database: T) => Object.fromEntries(Object.entries(database).map(([name, member]) =>
    [name, isStore(member) ? timed(name, member) : member])) as T // the same members, each of the same type

  function timed (store: string, methods: object): object {
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => {
      if (typeof method !== 'function') return [name, method]
      const series = duration.labels(`${store}.${name}`)
      return [name, timedMethod(method as Method, (ms) => { series.observe(ms / 1000) })]
    }))
  }
}

function timedMethod (method: Method, observe: (ms: number) => void): Method {
  return async (...args) => {
    const begun = performance.now()
    try {
      return await method(...args)
    } finally {
      observe(performance.now() - begun)
    }
  }
}

function isStore (member: unknown): member is object {
  return typeof member === 'object' && member !== null && Object.values(member).some((method) => typeof method === 'function')
}
