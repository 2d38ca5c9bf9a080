import { isTerminal, type RunEvent, type RunEventBody } from './run-event.ts'

/**
 * What is wrong with the order of one run's events, from its first to its last; nothing when the rules of docs/events.md
 * hold. Events may have their stamps or not; neighbouring deltas may have been merged.
 */
export function checkOrder (events: readonly (RunEvent | RunEventBody)[]): string[] {
  const faults: string[] = []
  const watch = createWatch((fault) => { faults.push(fault) })
  events.forEach((event, index) => { watch.event(event, index) })
  watch.end()
  return faults
}

type CallState = 'started' | 'input' | 'answered'

function createWatch (report: (fault: string) => void) {
  const openBlocks = new Map<string, string>()
  const usedBlocks = new Set<string>()
  const openSteps = new Map<string, number>()
  const calls = new Map<string, CallState>()
  const approvals = new Map<string, string>()
  // A continued run and a snapshot speak of blocks and calls that were opened before.
  let inherits = false
  let ended = false
  let lastSeq: number | undefined

  return { event: watchEvent, end }

  function end (): void {
    if (!ended) report('no terminal event')
  }

  function watchEvent (event: RunEvent | RunEventBody, index: number): void {
    if (ended) report(`${event.type} after the terminal event`)
    if (index === 0 && event.type !== 'message-start') report(`${event.type} before message-start`)
    if (index > 0 && event.type === 'message-start') report('message-start twice')
    if ('seq' in event) watchSeq(event)
    watchBody(event)
    if (isTerminal(event)) watchEnd(event)
  }

  function watchSeq ({ seq, type }: RunEvent): void {
    const merged = type.endsWith('-delta')
    if (lastSeq !== undefined && (merged ? seq <= lastSeq : seq !== lastSeq + 1)) report(`seq ${seq} after ${lastSeq}`)
    lastSeq = seq
  }

  function watchBody (event: RunEventBody): void {
    switch (event.type) {
      case 'message-start': inherits ||= event.continued; break
      case 'snapshot': inherits = true; break
      case 'step-start': stepStart(event); break
      case 'step-end': stepEnd(event); break
      case 'text-start': case 'reasoning-start': blockStart(event); break
      case 'text-delta': case 'reasoning-delta': inBlock(event); break
      case 'text-end': case 'reasoning-end':
        inBlock(event)
        openBlocks.delete(event.blockId)
        break
      case 'tool-call-start':
        if (calls.has(event.callId)) report(`call ${event.callId} started twice`)
        calls.set(event.callId, 'started')
        break
      case 'tool-input-delta': expectCall(event, ['started']); break
      case 'tool-input-complete':
        expectCall(event, ['started'])
        calls.set(event.callId, 'input')
        break
      case 'tool-input-invalid':
        expectCall(event, ['started'])
        calls.set(event.callId, 'answered')
        break
      case 'approval-requested':
        expectCall(event, ['input'])
        approvals.set(event.approvalId, event.callId)
        break
      case 'tool-output':
        expectCall(event, ['input'])
        if (event.preliminary !== true) calls.set(event.callId, 'answered')
        break
      case 'tool-error': case 'tool-denied':
        expectCall(event, ['input'])
        calls.set(event.callId, 'answered')
        break
      default: // The others may stand anywhere.
    }
  }

  function stepStart (event: RunEventBody & { type: 'step-start' }): void {
    const frame = frameOf(event)
    if (openSteps.has(frame)) report(`step ${event.step} started inside step ${openSteps.get(frame)}`)
    openSteps.set(frame, event.step)
  }

  function stepEnd (event: RunEventBody & { type: 'step-end' }): void {
    const frame = frameOf(event)
    if (openSteps.get(frame) !== event.step && !inherits) report(`step ${event.step} ended without being open`)
    openSteps.delete(frame)
    if (frame === '') for (const blockId of openBlocks.keys()) report(`block ${blockId} is open at the end of step ${event.step}`)
  }

  function blockStart ({ type, blockId }: RunEventBody & { type: 'text-start' | 'reasoning-start' }): void {
    if (usedBlocks.has(blockId)) report(`block ${blockId} started twice`)
    usedBlocks.add(blockId)
    openBlocks.set(blockId, type.slice(0, type.indexOf('-')))
  }

  function inBlock ({ type, blockId }: RunEventBody & { type: 'text-delta' | 'reasoning-delta' | 'text-end' | 'reasoning-end' }): void {
    const kind = openBlocks.get(blockId)
    if (kind === undefined && inherits && !usedBlocks.has(blockId)) return
    if (kind === undefined) report(`${type} of block ${blockId}, which is not open`)
    else if (!type.startsWith(`${kind}-`)) report(`${type} of block ${blockId}, which is ${kind}`)
  }

  function expectCall ({ type, callId }: RunEventBody & { callId?: string | undefined }, allowed: readonly CallState[]): void {
    const state = calls.get(callId ?? '')
    if (state === undefined && inherits) return
    if (state === undefined) report(`${type} of call ${callId}, which was not started`)
    else if (!allowed.includes(state)) report(`${type} of call ${callId}, which is ${state}`)
  }

  function watchEnd (event: RunEventBody): void {
    ended = true
    const waiting = event.type === 'run-suspended'
      ? new Set([...event.pendingCalls, ...event.approvals.map((id) => approvals.get(id) ?? id)])
      : new Set<string>()
    for (const blockId of openBlocks.keys()) report(`block ${blockId} is open at the end of the run`)
    for (const [callId, state] of calls) {
      if (state !== 'answered' && !waiting.has(callId)) report(`call ${callId} has no result`)
    }
    const mayBreakOff = event.type === 'run-stopped' || event.type === 'run-failed' || event.type === 'run-interrupted'
    if (!mayBreakOff && openSteps.has('')) report(`step ${openSteps.get('')} is open at the end of the run`)
  }
}

function frameOf ({ agentPath = [] }: RunEventBody): string {
  return agentPath.map(({ toolCallId }) => toolCallId).join('/')
}
