/**
 * Things that arrived together travel together. Streams inside the service carry batches, so that one more delta costs
 * one more turn of a loop and not one more chain of promises. A batch is never empty and never mutated.
 */
export type Batch<T> = readonly T[]

export type BatchStream<T> = AsyncIterable<Batch<T>>
