import type { RunLogger } from './log.ts'

/** Calls a hook that is only told something: what it throws, at once or later, is logged and concerns nobody else. Not waited for. */
export function tellSafely (hook: string, tell: () => unknown, log: RunLogger): void {
  const logged = (error: unknown) => { log.error({ err: error, hook }, 'a hook of the agent failed') }
  try {
    void Promise.resolve(tell()).catch(logged)
  } catch (error) {
    logged(error)
  }
}
