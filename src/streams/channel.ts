import type { Batch } from './batch.ts'

export interface Channel<T> extends AsyncIterable<Batch<T>> {
  /** Queues an item; false when the channel is closed or `capacity` items wait unread (the item is dropped). */
  push: (item: T, capacity?: number) => boolean
  /** Ends the reader once it has read what is queued. */
  close: () => void
}

/** Where several producers meet one reader, who takes all that has gathered as one batch. */
export function createChannel<T> (): Channel<T> {
  let queue: T[] = []
  let closed = false
  let wake: () => void = () => {}

  return {
    push (item, capacity = Infinity) {
      if (closed || queue.length >= capacity) return false
      queue.push(item)
      wake()
      return true
    },
    close () {
      closed = true
      wake()
    },
    async * [Symbol.asyncIterator] () {
      for (;;) {
        if (queue.length > 0) {
          const batch = queue
          queue = []
          yield batch
        } else if (closed) {
          return
        } else {
          await new Promise<void>((resolve) => { wake = resolve })
        }
      }
    }
  }
}
