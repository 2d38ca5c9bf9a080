import { AppError } from '../../errors.ts'
import { untilAborted } from '../../streams/abort.ts'
import { createCircuitBreaker } from '../circuit-breaker.ts'
import type { Integration } from '../integration.ts'
import type { IntegrationLog } from '../integration-log.ts'
import { createRefreshedValue } from '../refreshed-value.ts'
import { defineTool, type Tool, type ToolContext } from '../tool.ts'
import { ToolsUnavailable } from '../tools-unavailable.ts'
import { createConnection } from './connection.ts'
import { callFailure, explain, shortCause, verdictOf } from './failures.ts'
import { withLinkedSignal } from './linked-signal.ts'
import { loadClient, noTimeoutMs, type McpClient } from './mcp-client.ts'
import { listTools, type ListedTool } from './tool-list.ts'
import { outputOf, textOf, toolResultSchema, type ToolResult } from './tool-result.ts'

/** One server as one caller knows it: the tools it has for them, and the way to call them. */
export interface Session {
  /** The same tools again for up to 15 minutes. Throws ToolsUnavailable where there are none to be had. */
  tools: (signal: AbortSignal) => Promise<readonly Tool[]>
  /** Ends the connection, if nobody uses it. It is made again when somebody does. */
  drop: () => void
  busy: () => boolean
}

export interface SessionOptions {
  readonly name: string
  readonly integration: Integration
  readonly open: (onToolsChanged: () => void) => McpClient
  /** Milliseconds; only differences matter. */
  readonly now: () => number
  /** What must not be in a log. */
  readonly secrets: readonly string[]
  readonly log: IntegrationLog
}

const keepToolsMs = 900_000
const refreshToolsMs = 720_000
const longestProgress = 500
const longestError = 2_000

export function createSession ({ name, integration, open, now, secrets, log }: SessionOptions): Session {
  const { title = name, timeoutMs, idleMs, showErrors } = integration
  const connection = createConnection({ open: () => open(() => { list.outdate() }), idleMs })
  const breaker = createCircuitBreaker({ now })
  const list = createRefreshedValue({
    load: fetchTools, now, keepMs: keepToolsMs, refreshMs: refreshToolsMs,
    onRefreshFailure: (error) => { log.info({ err: error, integration: name }, 'the tools of an integration could not be refreshed; those known are still offered') }
  })
  return { tools, drop: connection.drop, busy: connection.busy }

  async function tools (signal: AbortSignal): Promise<readonly Tool[]> {
    return await untilAborted(list.get(), signal)
  }

  async function fetchTools (): Promise<readonly Tool[]> {
    await loadClient() // takes its time once, which is not the server's
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const listed = await guarded(() => connection.use((client) => listTools(client, { signal: deadline, log })))
      return listed.map(toTool)
    } catch (error) {
      // Whoever does not even name its tools may have got stuck: the next attempt begins anew.
      connection.drop()
      throw new ToolsUnavailable(name, explain(title, error), { cause: shortCause(error, secrets) })
    }
  }

  function toTool ({ name: toolName, title, annotations, description = '', inputSchema }: ListedTool): Tool {
    const label = title ?? annotations?.title
    return defineTool({
      name: `${name}_${toolName}`,
      description,
      input: inputSchema,
      execute: (input, context) => call(toolName, input, context),
      ...(label === undefined ? {} : { title: label })
    })
  }

  async function call (toolName: string, input: Record<string, unknown>, { signal, report }: ToolContext): Promise<unknown> {
    const result = await request(toolName, input, { signal, report }).catch((error: unknown) => {
      throw callFailure(title, `${name}_${toolName}`, error, shortCause(error, secrets))
    })
    if (result.isError !== true) return outputOf(result)
    const said = textOf(result.content).slice(0, longestError)
    throw new AppError('tool_failed', showErrors && said !== '' ? said : `The tool "${name}_${toolName}" failed.`, { cause: shortCause(new Error(said), secrets) })
  }

  async function request (toolName: string, input: Record<string, unknown>, { signal, report }: Pick<ToolContext, 'signal' | 'report'>): Promise<ToolResult> {
    const params = { name: toolName, arguments: input }
    const onprogress = (progress: Progress) => { report(...shownProgress(progress)) }
    return await guarded(() => withLinkedSignal(signal, (linked) => connection.use(async (client) => {
      return await client.request({ method: 'tools/call', params }, toolResultSchema, { signal: linked, timeout: noTimeoutMs, onprogress })
    })), signal)
  }

  /** Makes a request, unless too many have failed of late. */
  async function guarded<T> (work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = breaker.begin()
    if (begun === undefined) throw new AppError('tool_failed', `"${title}" is not available right now.`, { cause: new Error('Too many requests have failed; the next one is made after a pause') })
    try {
      const value = await work()
      begun.succeeded()
      return value
    } catch (error) {
      switch (verdictOf(error, signal)) {
        case 'answered': begun.succeeded(); break
        case 'failed': begun.failed(); break
        case 'given-up': begun.abandoned()
      }
      throw error
    }
  }
}

interface Progress { readonly progress: number, readonly total?: number | undefined, readonly message?: string | undefined }

function shownProgress ({ progress, total, message }: Progress): [message: string, fraction: number | undefined] {
  const share = total === undefined || total <= 0 ? undefined : Math.min(Math.max(progress / total, 0), 1)
  return [(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)).slice(0, longestProgress), share]
}
