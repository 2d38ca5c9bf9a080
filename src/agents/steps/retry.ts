import { delay } from '../../streams/abort.ts'
import { isState, outputsOf } from './outputs.ts'
import type { Step } from './step.ts'

export interface RetryOptions {
  /** In all, 3 when absent. */
  readonly attempts?: number
  /** Before the second attempt, 500 when absent; twice as long before each further one. */
  readonly delayMs?: number
  /** Which failures are worth another attempt; all when absent. */
  readonly when?: (error: unknown) => boolean
}

/**
 * A step that is taken again when it fails before it has shown anything: text, a file or progress. Each attempt begins
 * with the same state.
 */
export function retry<S> (step: Step<S>, { attempts = 3, delayMs = 500, when = () => true }: RetryOptions = {}): Step<S> {
  if (!Number.isSafeInteger(attempts) || attempts < 1) throw new TypeError('retry: attempts must be a whole number above 0')
  return async function * (state, context) {
    for (let attempt = 1; ; attempt++) {
      let last = state
      let hasShown = false
      try {
        for await (const output of outputsOf(step, state, context)) {
          if (isState(output)) last = output.state
          else {
            hasShown = true
            yield output
          }
        }
        yield { type: 'state', state: last }
        return
      } catch (error) {
        if (hasShown || attempt >= attempts || context.signal.aborted || !when(error)) throw error
        await delay(delayMs * 2 ** (attempt - 1), context.signal)
      }
    }
  }
}
