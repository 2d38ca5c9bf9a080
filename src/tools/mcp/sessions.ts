import type { Session } from './session.ts'

/** The sessions of one integration by whom they are for. */
export interface Sessions {
  /** The same session for the same key, as long as it is asked for from time to time. */
  get: (key: string, create: () => Session) => Session
}

const keepMs = 900_000
const mostSessions = 500

/** Forgets sessions that nobody has asked for in 15 minutes, and those asked for longest ago where there are too many. */
export function createSessions ({ now }: { readonly now: () => number }): Sessions {
  const held = new Map<string, { readonly session: Session, readonly at: number }>() // asked for last comes last

  return {
    get (key, create) {
      const session = held.get(key)?.session ?? create()
      held.delete(key)
      held.set(key, { session, at: now() })
      sweep()
      return session
    }
  }

  function sweep (): void {
    for (const [key, { session, at }] of held) {
      if (held.size <= mostSessions && now() - at < keepMs) return
      if (session.busy()) continue
      held.delete(key)
      session.drop()
    }
  }
}
