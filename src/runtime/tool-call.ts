import { AppError, isAppError, RunStopped } from '../errors.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import { untilAborted } from '../streams/abort.ts'
import type { SpeakingOutput } from './speaking-output.ts'

export type ToolOutcome =
  | { readonly ok: true, readonly output: unknown }
  /** `message` is safe for the model and the user; `cause` is for the log. */
  | { readonly ok: false, readonly code: string, readonly message: string, readonly cause: unknown }

export interface ToolCallOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** For a tool whose output is the answer to the user. */
  readonly speak?: SpeakingOutput | undefined
}

/**
 * Runs one tool with its own deadline. A failure is an outcome, not an exception; only the end of the whole run (its
 * signal) throws. What a tool does after its time is ignored.
 */
export async function runTool (tool: Tool, input: unknown, context: Omit<ToolContext, 'signal'>, { timeoutMs, signal, speak }: ToolCallOptions): Promise<ToolOutcome> {
  signal.throwIfAborted()
  const deadline = new AbortController()
  const timer = setTimeout(() => { deadline.abort(timedOut(tool.name, timeoutMs)) }, timeoutMs)
  const both = AbortSignal.any([signal, deadline.signal])
  try {
    const running = Promise.resolve().then(() => tool.execute?.(input as never, { ...context, signal: both })) // checked against the tool's own schema
    const output = speak === undefined ? running : running.then(speak.output)
    return { ok: true, output: toJsonSafe(await untilAborted(output, both)) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return failure(tool, error)
  } finally {
    clearTimeout(timer)
  }
}

function failure (tool: Tool, error: unknown): ToolOutcome {
  if (isAppError(error)) return { ok: false, code: error.code, message: error.message, cause: error }
  if (error instanceof RunStopped) throw error
  return { ok: false, code: 'tool_failed', message: `The tool "${tool.name}" failed.`, cause: error }
}

function timedOut (name: string, timeoutMs: number): AppError {
  return new AppError('tool_failed', `The tool "${name}" did not answer within ${timeoutMs} ms.`, { details: { reason: 'timeout' } })
}
