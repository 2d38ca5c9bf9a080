import { untilAborted } from './abort.ts'
import { closeSoon } from './abortable.ts'

type Arrival<T> = { readonly source: number } & ({ readonly result: IteratorResult<T, unknown> } | { readonly error: unknown })

/**
 * The items of several sources as they come, each with the number of its source. Of every source one item is asked for
 * ahead. The first failure ends it; all sources are closed when it ends.
 */
export async function * merge<T> (sources: ReadonlyArray<AsyncIterable<T>>, signal: AbortSignal): AsyncGenerator<{ readonly source: number, readonly item: T }, void> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const arrivals: Arrival<T>[] = []
  let wake = () => {}
  let open = iterators.length

  try {
    for (const source of iterators.keys()) ask(source)
    while (open > 0) {
      const arrival = arrivals.shift()
      if (arrival === undefined) {
        await untilAborted(new Promise<void>((resolve) => { wake = resolve }), signal)
      } else if ('error' in arrival) {
        throw arrival.error
      } else if (arrival.result.done === true) {
        open--
      } else {
        yield { source: arrival.source, item: arrival.result.value }
        ask(arrival.source)
      }
    }
  } finally {
    await Promise.all(iterators.map(closeSoon))
  }

  /** Listens once to each answer: a race over those that are slow would keep a listener for every item of the fast. */
  function ask (source: number): void {
    const arrived = (arrival: Arrival<T>) => {
      arrivals.push(arrival)
      wake()
    }
    iterators[source]?.next().then((result) => { arrived({ source, result }) }, (error: unknown) => { arrived({ source, error }) })
  }
}
