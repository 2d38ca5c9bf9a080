import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { pingTimeoutMs, type McpClient } from './mcp-client.ts'

/** A connection that is there when it is needed. */
export interface Connection {
  /**
   * Runs `work` on the open connection, or on a new one where there is none. Work that the server refused because it has
   * forgotten the session is run again, once, in a new session.
   */
  use: <T>(work: (client: Client) => Promise<T>) => Promise<T>
  /** Ends what is open, unless somebody is using it. */
  drop: () => void
  busy: () => boolean
}

export function createConnection ({ open, idleMs }: { readonly open: () => McpClient, readonly idleMs: number }): Connection {
  let current: McpClient | undefined
  let users = 0
  let idle: NodeJS.Timeout | undefined

  return { use, drop, busy: () => users > 0 }

  async function use<T> (work: (client: Client) => Promise<T>): Promise<T> {
    users++
    clearTimeout(idle)
    try {
      return await attempt(work)
    } finally {
      users--
      if (users === 0) idle = setTimeout(drop, idleMs).unref()
    }
  }

  async function attempt<T> (work: (client: Client) => Promise<T>): Promise<T> {
    const before = current
    const mine = connected()
    const client = await mine.opened
    try {
      return await work(client)
    } catch (error) {
      if (mine !== before || !await isForgotten(error, client)) throw error
      forget(mine)
      return await work(await connected().opened)
    }
  }

  function connected (): McpClient {
    if (current !== undefined) return current
    const opening = open()
    current = opening
    void opening.ended.then(() => { forget(opening) })
    opening.opened.catch(() => { forget(opening) })
    return opening
  }

  function forget (which: McpClient): void {
    if (current === which) current = undefined
    void which.close()
  }

  function drop (): void {
    clearTimeout(idle)
    if (users === 0 && current !== undefined) forget(current)
  }
}

/**
 * Whether a refused request was refused because its session is over: with 404 as the protocol has it, with 400 by some
 * servers. Those have other reasons too, so an idle request decides.
 */
async function isForgotten (error: unknown, client: Client): Promise<boolean> {
  const code = (error as { code?: unknown } | null)?.code
  if (code !== 404 && code !== 400) return false
  return await client.ping({ timeout: pingTimeoutMs }).then(() => false, () => true)
}
