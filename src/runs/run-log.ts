import type { RunEvent, RunEventBody } from '../events/run-event.ts'
import type { Batch, BatchStream } from '../streams/batch.ts'

/**
 * The ordered events of runs, readable from any position while they run and for a grace time after. An event is in the
 * log before anyone sees it.
 */
export interface RunLog {
  /** Stamps and stores events in order; the first append opens the log, a terminal event closes it. */
  append: (runId: string, events: Batch<RunEventBody>) => Promise<void>
  /**
   * Replays what came after `after` (-1: everything), then follows until the terminal event or until `signal` aborts; no
   * gap, no duplicate. Neighbouring deltas of one block may come merged into one event, whose `seq` is the last of
   * them. Memory is bounded: a slow reader holds back only itself. Ends at once for a run the log does not hold.
   */
  follow: (runId: string, options: { after: number, signal: AbortSignal }) => BatchStream<RunEvent>
  has: (runId: string) => Promise<boolean>
  close: () => Promise<void>
}
