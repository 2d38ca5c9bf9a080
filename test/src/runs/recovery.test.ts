import t from 'tap'
import { createRecovery } from '../../../src/runs/recovery.ts'
import type { MessagePart } from '../../../src/messages/parts.ts'
import type { Run } from '../../../src/runs/turn-store.ts'
import { alice } from '../../contracts/turns.ts'
import { recordingLog, runOf, turnsWith } from '../../helpers/memory-turns.ts'
import { createHolder } from '../../../src/runs/holder.ts'

const self = createHolder()
const past = new Date(Date.now() - 1)

const cases: Array<{ name: string, run: Partial<Run>, runsHere?: boolean, interrupted: boolean }> = [
  { name: 'a run of this process that runs here is alive, whatever its lease says', run: { holder: self, leaseUntil: past }, runsHere: true, interrupted: false },
  { name: 'a run of this process that does not run here is over: its end could not be stored', run: { holder: self }, interrupted: true },
  { name: 'a run of an earlier process of this host is over at once', run: { holder: self.replace(/[^/]+$/, 'earlier') }, interrupted: true },
  { name: 'a run of another host is alive while its lease is', run: { holder: 'elsewhere/1/a' }, interrupted: false },
  { name: 'a run of another host is over when its lease is', run: { holder: 'elsewhere/1/a', leaseUntil: past }, interrupted: true }
]

for (const { name, run, runsHere = false, interrupted } of cases) {
  t.test(name, async (t) => {
    const { recovery, ended } = create([runOf(run)], { runsHere })
    t.equal(await recovery.sweep(), interrupted ? 1 : 0)
    t.equal(ended.length, interrupted ? 1 : 0)
  })
}

t.test('what was said is kept, what was open is closed, and the reason is the last part', async (t) => {
  const parts: MessagePart[] = [
    { type: 'text', text: 'Half', state: 'streaming' },
    { type: 'tool-x', toolCallId: 'c', state: 'input-available', input: {} }
  ]
  const { recovery, ended } = create([runOf({ holder: self })], { parts })
  await recovery.sweep()
  t.match(ended, [{
    parts: [
      { type: 'text', text: 'Half', state: 'done' },
      { type: 'tool-x', state: 'output-error', errorText: 'interrupted' },
      { type: 'data-error', data: { code: 'shutting_down', retryable: true } }
    ]
  }])
  const last = ended[0]?.parts.at(-1)
  t.equal(last !== undefined && 'data' in last ? (last.data as { ref: string }).ref : undefined, ended[0]?.errorRef)
})

t.test('one run is recovered by its id, and only if it is over', async (t) => {
  const { recovery, ended } = create([runOf({ id: 'dead', holder: self }), runOf({ id: 'alive', holder: 'elsewhere/1/a' })])
  t.equal(await recovery.recover('alive'), false)
  t.equal(await recovery.recover('unknown'), false)
  t.equal(await recovery.recover('dead'), true)
  t.equal(ended.length, 1)
})

t.test('a run that somebody else recovered first does not count, and a message that is gone does not matter', async (t) => {
  const { recovery } = create([runOf({ holder: self })], { parts: null, interrupts: false })
  t.equal(await recovery.sweep(), 0)
})

function create (runs: readonly Run[], { runsHere = false, parts = [], interrupts = true }: { runsHere?: boolean, parts?: readonly MessagePart[] | null, interrupts?: boolean } = {}) {
  const ended: Array<{ parts: readonly MessagePart[], errorRef: string }> = []
  const turns = turnsWith({
    runningRuns: async () => runs.map((run) => ({ ...run, principal: alice })),
    messageOfRun: async () => parts === null ? undefined : messageWith(parts),
    interrupt: async (_run, end) => { ended.push(end); return interrupts }
  })
  const recovery = createRecovery({ turns, runs: { isRunning: () => runsHere } as never, holder: self, log: recordingLog() }) // recovery asks the registry nothing else
  return { recovery, ended }
}

function messageWith (parts: readonly MessagePart[]) {
  return {
    id: 'answer-1', clientId: undefined, parentId: undefined, position: 2, role: 'assistant' as const, parts, status: 'streaming' as const, runId: 'run-1', model: undefined,
    finishReason: undefined, usage: undefined, costUsd: undefined, processingMs: undefined, errorCode: undefined, errorRef: undefined, startedAt: undefined, completedAt: undefined, createdAt: new Date(), deletedAt: undefined
  }
}
