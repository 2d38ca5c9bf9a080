import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

// Fetched for many ids at once: alone, an id's randomness costs more than all else about it.
const pool = new Uint8Array(16 * 256)
let taken = pool.length
let lastMs = 0
let sequence = 0

/** An id for a row made here: a UUID of version 7, so unique, and sortable by when this process made it. */
export function newId (): string {
  const random = nextRandom()
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    // 31 of its 32 bits: what is counted up within a millisecond does not reach the end.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1
  } else {
    sequence++
  }
  return v7({ random, msecs: lastMs, seq: sequence })
}

function nextRandom (): Uint8Array {
  if (taken === pool.length) {
    randomFillSync(pool)
    taken = 0
  }
  taken += 16
  return pool.subarray(taken - 16, taken)
}
