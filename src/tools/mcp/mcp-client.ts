import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { delay, untilAborted } from '../../streams/abort.ts'
import type { Fetch } from '../egress.ts'
import type { Integration } from '../integration.ts'
import type { IntegrationLog } from '../integration-log.ts'
import { shortCause, withoutSecrets } from './failures.ts'
import { createTransport, type OpenTransport } from './transports.ts'

/** One connection to one server, from its beginning to its end. */
export interface McpClient {
  /** Rejects where it could not be had in time; it is ended then. */
  readonly opened: Promise<Client>
  /** The connection is gone, whoever ended it. */
  readonly ended: Promise<void>
  /** Resolves when what belongs to it is gone too: the session, the process. Takes some seconds at most. */
  readonly close: () => Promise<void>
}

export interface McpClientOptions {
  readonly name: string
  readonly integration: Integration
  readonly token: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: Fetch
  /** What must not be in a log. */
  readonly secrets: readonly string[]
  /** The server has other tools now. */
  readonly onToolsChanged: () => void
  readonly log: IntegrationLog
}

/** Longer than any deadline of ours, so that ours decide; the client takes no "none". */
export const noTimeoutMs = 2_147_483_647
export const pingTimeoutMs = 3_000
const farewellMs = 1_000
// A process is asked to end, told to after 2 seconds, and killed after 4.
const deathMs = 5_000
const longestLine = 1_000

/** Connects at once. */
export function openMcpClient (options: McpClientOptions): McpClient {
  const { name, integration, log } = options
  const closing = new AbortController()
  let way: OpenTransport | undefined
  let client: Client | undefined
  let onEnded: () => void = () => {}
  let closed: Promise<void> | undefined
  const ended = new Promise<void>((resolve) => { onEnded = resolve })
  const opened = open()
  opened.catch(() => { void close() })
  return { opened, ended, close }

  async function open (): Promise<Client> {
    const { client: made, way: taken } = await createClient(options, { onLost, onEnded })
    client = made
    way = taken
    const inTime = AbortSignal.any([closing.signal, AbortSignal.timeout(integration.timeoutMs)])
    try {
      // Its own time limit does not hold for all transports.
      await untilAborted(made.connect(taken.transport, { timeout: noTimeoutMs }), inTime)
    } catch (error) {
      throw taken.refusal() ?? error
    }
    return made
  }

  function onLost (how: 'surely' | 'perhaps'): void {
    // Whatever breaks before it is open has a reason of its own, which is told.
    if (how === 'surely') void opened.then(close, () => {})
    else client?.ping({ timeout: pingTimeoutMs }).catch(() => close())
  }

  function close (): Promise<void> {
    closed ??= end().catch((error: unknown) => { log.debug({ err: error, integration: name }, 'an integration could not be closed in order') }).finally(onEnded)
    return closed
  }

  async function end (): Promise<void> {
    // What ended by itself says why.
    if (client === undefined || client.transport !== undefined) closing.abort(new Error('The connection is being closed'))
    const wasOpen = await opened.then(() => true, () => false)
    if (way === undefined || client === undefined) return
    // Only a wish: the server may be gone.
    if (wasOpen && client.transport !== undefined) await within(way.farewell().catch(() => {}), farewellMs)
    await client.close()
    await within(ended, deathMs)
  }
}

async function within (promise: Promise<void>, ms: number): Promise<void> {
  const done = new AbortController()
  await Promise.race([promise.finally(() => { done.abort() }), delay(ms, done.signal)])
}

interface Hooks {
  readonly onLost: (how: 'surely' | 'perhaps') => void
  readonly onEnded: () => void
}

/** Loaded when it is first needed: half a second and 8 MB that a service without integrations is spared. */
export async function loadClient () {
  const [{ Client }, { ToolListChangedNotificationSchema }] = await Promise.all([import('@modelcontextprotocol/sdk/client/index.js'), import('@modelcontextprotocol/sdk/types.js')])
  return { Client, ToolListChangedNotificationSchema }
}

async function createClient ({ name, integration, token, env, fetch, onToolsChanged, secrets, log }: McpClientOptions, { onLost, onEnded }: Hooks): Promise<{ client: Client, way: OpenTransport }> {
  const { Client, ToolListChangedNotificationSchema } = await loadClient()
  const onLine = (line: string) => { log.debug({ integration: name, line: withoutSecrets(line, secrets).slice(0, longestLine) }, 'an integration says') }
  const way = await createTransport(integration, { token, env, fetch, onLost, onLine })
  const client = new Client({ name: 'parley', version: '1.0.0' })
  client.onclose = onEnded
  client.onerror = (error) => { log.debug({ integration: name, reason: shortCause(error, secrets).message }, 'an integration reports a fault') }
  client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged)
  return { client, way }
}
