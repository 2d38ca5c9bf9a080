import type { RunEventBody } from '../events/run-event.ts'
import { denialText } from '../messages/denial.ts'
import type { ToolOutput } from '../messages/turn-request.ts'
import { createChannel } from '../streams/channel.ts'
import type { Batch } from '../streams/batch.ts'
import { limitText, serialiseOutput } from '../tools/serialise.ts'
import { createAnswerLane } from './answer-lane.ts'
import { passGate } from './approval-gate.ts'
import type { CheckedCall } from './checked-call.ts'
import { isCrewTool } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import { logToolCall } from './log-tool-call.ts'
import { runMember, type MemberEnd, type MemberOptions } from './member.ts'
import type { SettledCall } from './runaway.ts'
import { speakingOutput } from './speaking-output.ts'
import type { FrameCheckpoint, Resume, Verdict, WaitingCall } from './suspension.ts'
import { runTool } from './tool-call.ts'

export interface ToolBatchInput {
  readonly frame: Frame
  readonly calls: readonly CheckedCall[]
  /** How many calls may still run in this loop. */
  readonly callsLeft: number
  readonly signal: AbortSignal
  readonly loop: MemberOptions['loop']
  /** Of a batch that was suspended: what it had, and what it goes on with. */
  readonly resume?: { readonly frame: FrameCheckpoint, readonly answers: Resume } | undefined
}

export interface ToolBatchOutcome {
  /** What the model reads, per answered call, in call order. */
  readonly results: readonly ({ readonly call: CheckedCall } & Settled)[]
  /** Calls that wait for somebody outside. */
  readonly waiting: readonly WaitingCall[]
  /** What the user was told in place of an answer of this agent; undefined when the model goes on. */
  readonly answer: string | undefined
}

interface Settled {
  readonly content: string
  readonly ran: boolean
  readonly outcome: SettledCall['outcome']
}

type Ready = CheckedCall & { ok: true }
interface Runnable { readonly call: Ready, readonly member?: FrameCheckpoint }

// Progress is transient: a reader that is far behind misses some of it rather than holding memory.
const maxUnreadProgress = 64

/**
 * Runs the calls of one step side by side. Every call is answered or waits when it ends; events come as they happen. What
 * needs nobody's approval runs before the batch waits for the rest.
 */
export async function * toolBatch (input: ToolBatchInput): AsyncGenerator<Batch<RunEventBody>, ToolBatchOutcome> {
  const { frame, signal } = input
  const { agent, path, metadata, run: { deps, principal, threadId, runId } } = frame
  const contents = new Map<string, Settled>(input.resume?.frame.results.map(({ callId, content, ran, outcome = ran ? 'ok' : 'skipped' }) => [callId, { content, ran, outcome }]))
  const waiting = new Map<string, WaitingCall>()
  const answers: string[] = []
  const events = createChannel<RunEventBody>()
  const lane = createAnswerLane((event) => { events.push(event) })
  let failed: { reason: unknown } | undefined

  const work = triage()
    .then((runnable) => runAll(runnable, agent.toolConcurrency, execute))
    .catch((reason: unknown) => { failed = { reason } })
    .finally(() => { events.close() })
  yield * events
  await work
  if (failed !== undefined) throw failed.reason
  return {
    results: input.calls.flatMap((call) => resultOf(call)),
    waiting: input.calls.flatMap(({ callId }) => waiting.get(callId) ?? []),
    answer: answers.length === 0 ? undefined : answers.join('\n\n')
  }

  async function triage (): Promise<Runnable[]> {
    const runnable: Runnable[] = []
    const waited = new Map(input.resume?.frame.waiting.map((call) => [call.callId, call]))
    for (const call of input.calls) {
      const before = waited.get(call.callId)
      if (contents.has(call.callId)) continue
      const taken = before === undefined ? await take(call, runnable.length) : takeAgain(call, before)
      if (taken !== undefined) runnable.push(taken)
    }
    return runnable
  }

  /** A call that is new: what is left to run of it. */
  async function take (call: CheckedCall, ahead: number): Promise<Runnable | undefined> {
    if (!call.ok) return settle(call, { content: call.problem, ran: false, outcome: 'failed' })
    if (ahead >= input.callsLeft) return refuse(call, 'tool_failed', 'The limit of tool calls is reached; this call was not run. Answer from what you have.')
    const gate = await passGate(call, frame)
    signal.throwIfAborted()
    if (gate.kind === 'decided') return deny(call, gate.verdict)
    if (gate.kind === 'ask') {
      if (frame.run.suspendsFor !== 'everything') return refuse(call, 'approval_unavailable', `"${call.toolName}" needs somebody's approval, which this run has no way to ask for.`)
      return wait({ kind: 'approval', callId: call.callId, approvalId: gate.approvalId })
    }
    return takeAllowed(call)
  }

  function takeAllowed (call: Ready): Runnable | undefined {
    const { tool } = call.offered
    if (tool.execute !== undefined || isCrewTool(tool)) return { call }
    if (frame.run.suspendsFor === 'everything' || (frame.run.suspendsFor === 'client-tools' && path.length === 0)) return wait({ kind: 'client', callId: call.callId })
    return refuse(call, 'approval_unavailable', `"${call.toolName}" is answered by the user's client, which this run has none of.`)
  }

  /** A call that waited: the answer it got, or what is to be done now. */
  function takeAgain (call: CheckedCall, before: WaitingCall): Runnable | undefined {
    const { verdicts, outputs } = input.resume!.answers // only a resumed batch has calls that waited
    if (before.kind === 'approval') {
      const verdict = verdicts.get(before.approvalId) ?? { approved: false }
      if (!verdict.approved) return deny(call, verdict)
    }
    if (before.kind === 'client') return answered(call, outputs.get(call.callId))
    if (!call.ok) return refuse(call, 'tool_failed', call.problem)
    return before.kind === 'member' ? { call, member: before.member } : takeAllowed(call)
  }

  function answered (call: CheckedCall, given: ToolOutput | undefined): undefined {
    if (given === undefined) return refuse(call, 'tool_failed', 'There was no result.')
    if ('errorText' in given) return refuse(call, 'tool_failed', given.errorText, `Error: ${given.errorText}`)
    events.push({ type: 'tool-output', callId: call.callId, output: given.output })
    return settle(call, { content: limitText(serialiseOutput(given.output), deps.toolOutputLimit), ran: true, outcome: 'ok' })
  }

  function deny (call: CheckedCall, { reason }: Verdict): undefined {
    events.push({ type: 'tool-denied', callId: call.callId, ...(reason === undefined ? {} : { reason }) })
    return settle(call, { content: denialText(reason), ran: false, outcome: 'denied' })
  }

  function refuse (call: CheckedCall, code: string, message: string, content = message): undefined {
    events.push({ type: 'tool-error', callId: call.callId, code, message })
    return settle(call, { content, ran: false, outcome: 'skipped' })
  }

  function wait (call: WaitingCall): undefined {
    waiting.set(call.callId, call)
  }

  function settle (call: CheckedCall, result: Settled): undefined {
    contents.set(call.callId, result)
  }

  async function execute ({ call, member }: Runnable): Promise<void> {
    logToolCall(deps.log, call)
    const tell = deps.observer?.toolCall({ runId, callId: call.callId, toolName: call.toolName, input: call.input })
    try {
      await (isCrewTool(call.offered.tool) ? delegate(call, member, tell) : runOwn(call, tell))
    } catch (error) {
      tell?.({ ok: false, code: undefined, error })
      throw error
    } finally {
      lane.done(call.callId)
    }
  }

  async function runOwn (call: Ready, tell: Tell | undefined): Promise<void> {
    const { callId, toolName, offered: { tool } } = call
    const context = { principal, threadId, runId, metadata, agentPath: path, callId, report }
    const speak = tool.handling === 'output' ? speakingOutput({ nextBlockId: frame.state.nextBlockId, say: (event) => { lane.say(callId, event) } }) : undefined
    const outcome = await runTool(tool, call.input, context, { timeoutMs: tool.timeoutMs ?? agent.toolTimeoutMs, signal, speak })
    const said = speak?.end()
    tell?.(outcome)
    if (!outcome.ok) {
      deps.log.warn({ err: outcome.cause, tool: toolName, callId }, 'tool call failed')
      settle(call, { content: `Error (${outcome.code}): ${outcome.message}`, ran: true, outcome: 'failed' })
      events.push({ type: 'tool-error', callId, code: outcome.code, message: outcome.message })
      return
    }
    settle(call, { content: limitText(serialiseOutput(outcome.output), deps.toolOutputLimit), ran: true, outcome: 'ok' })
    events.push({ type: 'tool-output', callId, output: outcome.output })
    if (said !== undefined) answers.push(said)

    function report (message: string, fraction?: number): void {
      if (contents.has(callId)) return // too late: the call is answered
      events.push({ type: 'progress', callId, message: String(message), ...(fraction === undefined ? {} : { fraction }) }, maxUnreadProgress)
    }
  }

  async function delegate (call: Ready, member: FrameCheckpoint | undefined, tell: Tell | undefined): Promise<void> {
    const { callId, offered: { tool } } = call
    if (!isCrewTool(tool)) return // who calls has looked
    const errand = { callId, ...tool.delegation(call.input) }
    const resume = member === undefined ? undefined : { frame: member, answers: input.resume!.answers } // only a resumed batch has members that waited
    const end = await passOn(runMember(frame, errand, { signal, loop: input.loop, resume }), (event) => {
      // Unsigned text of a member that took over is said in this agent's name.
      if (event.agentPath === undefined && event.type.startsWith('text-')) lane.say(callId, event)
      else events.push(event)
    })
    endDelegation(call, end, tell)
  }

  function endDelegation (call: Ready, end: MemberEnd, tell: Tell | undefined): void {
    const { callId } = call
    switch (end.kind) {
      case 'suspended':
        wait({ kind: 'member', callId, member: end.checkpoint })
        tell?.({ ok: true, output: undefined })
        break
      case 'reported':
        settle(call, { content: limitText(end.report, deps.toolOutputLimit), ran: true, outcome: 'ok' })
        events.push({ type: 'tool-output', callId, output: end.report })
        tell?.({ ok: true, output: end.report })
        break
      case 'handed-over':
        answers.push(end.text)
        settle(call, { content: JSON.stringify(handedOver), ran: true, outcome: 'ok' })
        events.push({ type: 'tool-output', callId, output: handedOver })
        tell?.({ ok: true, output: handedOver })
        break
      case 'failed':
        settle(call, { content: `Error (${end.code}): ${end.message}`, ran: true, outcome: 'failed' })
        events.push({ type: 'tool-error', callId, code: end.code, message: end.message })
        tell?.({ ok: false, code: end.code, message: end.message, cause: end.cause })
        break
      default: end satisfies never
    }
  }

  function resultOf (call: CheckedCall): ToolBatchOutcome['results'] {
    const result = contents.get(call.callId)
    return result === undefined ? [] : [{ call, ...result }]
  }
}

type Tell = NonNullable<ReturnType<NonNullable<Frame['run']['deps']['observer']>['toolCall']>>

const handedOver = Object.freeze({ handedOver: true })

/** Gives each event of a generator on and returns what it ends with. */
async function passOn<T, R> (source: AsyncGenerator<Batch<T>, R>, give: (item: T) => void): Promise<R> {
  for (let next = await source.next(); ; next = await source.next()) {
    if (next.done === true) return next.value
    next.value.forEach(give)
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
