import type { Readable } from 'node:stream'

/**
 * The chunks of a body as they come; bytes that came together are one. Throws what breaks the body, also when it ends
 * without saying so. Who leaves early leaves the rest of the body unread, and nothing of ours on it. By hand, because
 * Node's own iterator of a stream brings a dozen listeners for each open answer.
 */
export function bodyChunks (body: Readable): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => iterate(body) }
}

function iterate (body: Readable): AsyncIterator<Buffer, void> {
  let wake: () => void = noListener
  const onChange = (): void => { wake() }
  body.on('readable', onChange).on('end', onChange).on('error', onChange).on('close', onChange)

  return {
    async next () {
      for (;;) {
        if (body.errored !== null) throw leave(body.errored)
        const chunk = body.read() as Buffer | null
        if (chunk !== null) return { done: false, value: chunk }
        if (body.readableEnded) return { done: true, value: leave(undefined) }
        if (body.closed) throw leave(new Error('The body was closed before its end'))
        await new Promise<void>((resolve) => { wake = resolve })
      }
    },
    return: async () => ({ done: true, value: leave(undefined) })
  }

  function leave<T> (last: T): T {
    body.off('readable', onChange).off('end', onChange).off('error', onChange).off('close', onChange)
    return last
  }
}

function noListener (): void {}
