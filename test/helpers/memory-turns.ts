import type { Checkpoint, Run, TurnEnd, TurnStore } from '../../src/runs/turn-store.ts'
import type { RunLogger } from '../../src/runtime/log.ts'

export interface LoggedLine { readonly level: 'debug' | 'info' | 'warn' | 'error', readonly fields: object, readonly message: string }

/** A log to be read by a test. */
export function recordingLog (lines: LoggedLine[] = []): RunLogger & { readonly lines: LoggedLine[] } {
  const at = (level: LoggedLine['level']) => (fields: object, message: string) => { lines.push({ level, fields, message }) }
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => recordingLog(lines) }
}

/** The parts of a TurnStore that a test gives; the others are not to be called. */
export function turnsWith (given: Partial<TurnStore>): TurnStore {
  const missing = (name: string) => async () => { throw new Error(`${name} is not expected`) }
  return {
    begin: missing('begin'), checkpoint: missing('checkpoint'), finish: missing('finish'), suggestTitle: missing('suggestTitle'), run: missing('run'),
    activeRun: missing('activeRun'), renewLeases: missing('renewLeases'), runningRuns: missing('runningRuns'), messageOfRun: missing('messageOfRun'), interrupt: missing('interrupt'),
    ...given
  }
}

/** A store that keeps what is saved, and fails as often as it is told to. */
export function savingTurns ({ failures = 0, lost = [] }: { failures?: number, lost?: readonly string[] } = {}) {
  const transactions: Array<readonly Checkpoint[]> = []
  const ends: TurnEnd[] = []
  let left = failures
  const attempt = () => { if (left-- > 0) throw new Error('the store is away') }
  const turns = turnsWith({
    checkpoint: async (_holder, checkpoints) => {
      attempt()
      transactions.push(checkpoints)
      return lost
    },
    finish: async (_holder, end) => {
      attempt()
      ends.push(end)
      return !lost.includes(end.runId)
    }
  })
  return { turns, transactions, ends, failFor: (times: number) => { left = times } }
}

export function runOf (fields: Partial<Run> = {}): Run {
  return {
    id: 'run-1', threadId: 'thread-1', messageId: 'answer-1', agentId: 'agent-1', status: 'running', holder: 'host/1/a',
    leaseUntil: new Date(Date.now() + 60_000), createdAt: new Date(), endedAt: undefined, errorCode: undefined, ...fields
  }
}
