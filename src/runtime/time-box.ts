import { createContext, Script } from 'node:vm'

const context = createContext({ work: () => {} })
const script = new Script('work()')

/** What `work` returns; undefined when it took longer. Only for work that can be left half done. */
export function withinTime<T> (timeoutMs: number, work: () => T): { readonly value: T } | undefined {
  let done: { readonly value: T } | undefined
  context['work'] = () => { done = { value: work() } }
  try {
    // The one way to interrupt what never returns to the event loop, regular expressions included.
    script.runInContext(context, { timeout: timeoutMs })
    return done
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  } finally {
    context['work'] = undefined
  }
}
