import type { RunEventBody } from '../events/run-event.ts'
import { createChannel } from '../streams/channel.ts'
import type { Batch } from '../streams/batch.ts'
import { limitText, serialiseOutput } from '../tools/serialise.ts'
import { isClientTool, type ToolContext } from '../tools/tool.ts'
import type { CheckedCall } from './checked-call.ts'
import type { RunLogger } from './log.ts'
import type { RunObserver } from './run-observer.ts'
import { runTool } from './tool-call.ts'

export interface ToolBatchInput {
  readonly calls: readonly CheckedCall[]
  readonly context: Omit<ToolContext, 'signal' | 'callId' | 'report'>
  readonly concurrency: number
  readonly timeoutMs: number
  /** Characters of a result that reach the model, 0 for all. */
  readonly outputLimit: number
  /** How many calls may still run in this loop. */
  readonly callsLeft: number
  /** Whether client tools may be left for the client to answer. */
  readonly canSuspend: boolean
  readonly signal: AbortSignal
  readonly log: RunLogger
  readonly observer?: RunObserver | undefined
}

export interface ToolBatchOutcome {
  /** What the model reads, per answered call, in call order. */
  readonly results: readonly { readonly call: CheckedCall, readonly content: string, readonly ran: boolean }[]
  /** Client tools' calls that wait for the client. */
  readonly pending: readonly CheckedCall[]
}

type Ready = CheckedCall & { ok: true }

// Progress is transient: a reader that is far behind misses some of it rather than holding memory.
const maxUnreadProgress = 64

/** Runs the calls of one step side by side. Every call is answered or pending when it ends; events come as they happen. */
export async function * toolBatch (input: ToolBatchInput): AsyncGenerator<Batch<RunEventBody>, ToolBatchOutcome> {
  const contents = new Map<CheckedCall, { content: string, ran: boolean }>()
  const events = createChannel<RunEventBody>()
  const { runnable, pending } = triage()
  let failed: { reason: unknown } | undefined

  const work = runAll(runnable, input.concurrency, execute)
    .catch((reason: unknown) => { failed = { reason } })
    .finally(() => { events.close() })
  yield * events
  await work
  if (failed !== undefined) throw failed.reason
  return { results: input.calls.flatMap((call) => resultOf(call)), pending }

  function triage (): { runnable: Ready[], pending: CheckedCall[] } {
    const runnable: Ready[] = []
    const pending: CheckedCall[] = []
    for (const call of input.calls) {
      if (!call.ok) contents.set(call, { content: call.problem, ran: false })
      else if (isClientTool(call.offered.tool) && input.canSuspend) pending.push(call)
      else if (isClientTool(call.offered.tool)) refuse(call, 'approval_unavailable', `"${call.toolName}" is answered by the user's client, which this run has none of.`)
      else if (runnable.length >= input.callsLeft) refuse(call, 'tool_failed', 'The limit of tool calls is reached; this call was not run. Answer from what you have.')
      else runnable.push(call)
    }
    return { runnable, pending }
  }

  function refuse (call: CheckedCall, code: string, message: string): void {
    contents.set(call, { content: message, ran: false })
    events.push({ type: 'tool-error', callId: call.callId, code, message })
  }

  async function execute (call: Ready): Promise<void> {
    const { callId, toolName } = call
    input.log.info({ tool: toolName, callId }, 'tool call')
    const context = { ...input.context, callId, report }
    const timeoutMs = call.offered.tool.timeoutMs ?? input.timeoutMs
    const tell = input.observer?.toolCall({ runId: context.runId, callId, toolName, input: call.input })
    const outcome = await runTool(call.offered.tool, call.input, context, { timeoutMs, signal: input.signal }).catch((error: unknown) => {
      tell?.({ ok: false, code: undefined, error })
      throw error
    })
    tell?.(outcome)
    if (outcome.ok) {
      contents.set(call, { content: limitText(serialiseOutput(outcome.output), input.outputLimit), ran: true })
      events.push({ type: 'tool-output', callId, output: outcome.output })
    } else {
      input.log.warn({ err: outcome.cause, tool: toolName, callId }, 'tool call failed')
      contents.set(call, { content: `Error (${outcome.code}): ${outcome.message}`, ran: true })
      events.push({ type: 'tool-error', callId, code: outcome.code, message: outcome.message })
    }

    function report (message: string, fraction?: number): void {
      if (contents.has(call)) return // too late: the call is answered
      events.push({ type: 'progress', callId, message: String(message), ...(fraction === undefined ? {} : { fraction }) }, maxUnreadProgress)
    }
  }

  function resultOf (call: CheckedCall): ToolBatchOutcome['results'] {
    const result = contents.get(call)
    return result === undefined ? [] : [{ call, ...result }]
  }
}

/** Runs `work` on every item, `concurrency` at a time. Rejects with the first failure once all that had begun are done. */
async function runAll<T> (items: readonly T[], concurrency: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, items.length) }, lane))
  for (const result of lanes) if (result.status === 'rejected') throw result.reason
}
