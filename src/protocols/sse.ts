/** What every event stream of ours is sent with. No compression and no buffering on the way: an event is there to be seen now. */
export const sseHeaders = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no'
})

/** Sent at once, so that headers leave before the first event is known. */
export const streamOpen = comment('stream-open')
/** Sent in silence; never an event. */
export const keepAlive = comment('keep-alive')
export const done = dataFrame('[DONE]')

export interface SseFields { readonly event?: string, readonly id?: string, readonly data: string }

/** One event. Data may have several lines; an id or a name with a line break or NUL would forge fields and is refused. */
export function sseFrame ({ event, id, data }: SseFields): string {
  const name = event === undefined ? '' : `event: ${singleLine('event', event)}\n`
  const position = id === undefined ? '' : `id: ${singleLine('id', id)}\n`
  return `${name}${position}${data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join('')}\n`
}

/** The frame of one JSON text, which has no line breaks. */
export function dataFrame (json: string): string {
  return `data: ${json}\n\n`
}

export function comment (text: string): string {
  return `: ${singleLine('comment', text)}\n\n`
}

function singleLine (what: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new TypeError(`An SSE ${what} must be one line without NUL`)
  return text
}
