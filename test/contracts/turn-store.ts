import type { Test } from 'tap'
import type { TurnPlan, TurnView } from '../../src/runs/turn-store.ts'
import { threadBusy } from '../../src/errors.ts'
import type { FrameCheckpoint } from '../../src/runtime/suspension.ts'
import { alice, answer, bob, endOf, holder, inOneMinute, noTokens, planTurn, startTurn, takeTurn, text, userMessage } from './turns.ts'
import type { OpenStores } from './thread-store.ts'

const context = { contextLimit: 50 }

/** What every implementation of TurnStore does. */
export function turnStoreContract (t: Test, open: OpenStores): void {
  t.test('a turn begins with its thread, its question, its answer row and its run, all or nothing', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const turn = await startTurn(database, alice, 'begun-1', 'hello', { clientId: 'client-id-1' })
    t.match(await threads.get(alice, 'begun-1'), { agentId: 'agent-1', headId: turn.answerId, messageCount: 2, lastMessageAt: Date })
    t.match((await threads.history(alice, 'begun-1', { limit: 10, includeStreaming: true }))?.items, [
      { id: turn.userId, clientId: 'client-id-1', position: 1, parts: text('hello'), status: 'completed' },
      { id: turn.answerId, position: 2, status: 'streaming', runId: turn.runId, model: 'test:model' }
    ])
    t.match(await turns.messageOfRun(turn.runId), { id: turn.answerId, parentId: turn.userId, startedAt: Date, completedAt: undefined })
    t.match(await turns.activeRun(alice, 'begun-1'), { id: turn.runId, threadId: 'begun-1', messageId: turn.answerId, status: 'running', holder })
    t.match(await turns.run(alice, turn.runId), { id: turn.runId, leaseUntil: Date, endedAt: undefined })
    t.equal(await turns.run(bob, turn.runId), undefined)
    t.equal(await turns.activeRun(bob, 'begun-1'), undefined)
    await t.rejects(turns.begin(alice, 'failed-1', context, (view) => {
      const plan = planTurn(view, 'hello')
      return { ...plan, messages: [...plan.messages, ...plan.messages] }
    }), { code: 'conflict' })
    t.equal(await threads.get(alice, 'failed-1'), undefined)
  })

  t.test('what decide throws is thrown, and nothing is written', async (t) => {
    const { threads, turns } = await open(t)
    const refusal = threadBusy('run-1')
    await t.rejects(turns.begin(alice, 'refused-1', context, () => { throw refusal }), refusal)
    t.equal(await threads.get(alice, 'refused-1'), undefined)
  })

  t.test('a plan without a thread to write to is not_found', async (t) => {
    const { turns } = await open(t)
    await t.rejects(turns.begin(alice, 'nowhere-1', context, () => ({ messages: [userMessage('x')], result: 1 })), { code: 'not_found' })
    t.equal(await turns.begin(alice, 'nowhere-1', context, () => ({ messages: [], result: 1 })), 1)
  })

  t.test('ten first sends at once make one thread, one run, and nine decisions that see it', async (t) => {
    const database = await open(t)
    const results = await Promise.all(Array.from({ length: 10 }, () => database.turns.begin<string | undefined>(alice, 'raced-1', context, (view) => {
      return view.activeRun === undefined ? { ...planTurn(view, 'hello'), result: undefined } : { messages: [], result: view.activeRun.id }
    })))
    const active = await database.turns.activeRun(alice, 'raced-1')
    t.equal(results.filter((result) => result === undefined).length, 1)
    t.equal(results.filter((result) => result === active?.id).length, 9)
    t.equal((await database.threads.list(alice, { limit: 10 })).items.length, 1)
    t.equal((await database.threads.get(alice, 'raced-1'))?.messageCount, 2)
  })

  t.test('a hundred turns of a hundred threads begin and end at once', async (t) => {
    const database = await open(t)
    await Promise.all(Array.from({ length: 100 }, (_, index) => takeTurn(database, alice, `parallel-${index}`, 'q', 'a')))
    t.equal((await database.threads.list(alice, { limit: 100 })).items.filter(({ messageCount }) => messageCount === 2).length, 100)
  })

  t.test('decide sees the newest messages of the head path, and the message it looks up with the path to it', async (t) => {
    const database = await open(t)
    const { turns } = database
    const first = await takeTurn(database, alice, 'viewed-1', 'q1', 'a1')
    const second = await takeTurn(database, alice, 'viewed-1', 'q2', 'a2')
    await database.threads.removeMessage(alice, 'viewed-1', first.answerId)
    const view = (lookup: string | undefined, contextLimit: number) => viewOf((decide) => turns.begin(alice, 'viewed-1', { lookup, contextLimit }, decide))
    t.strictSame(idsOf((await view(undefined, 2)).path), [second.userId, second.answerId])
    t.strictSame(idsOf((await view(undefined, 9)).path), [first.userId, second.userId, second.answerId], 'deleted ones are left out')
    const near = await view(second.userId, 9)
    t.equal(near.found?.id, second.userId)
    t.strictSame(idsOf(near.foundPath), [first.userId, second.userId])
    t.strictSame(idsOf((await view(first.userId, 2)).foundPath), [first.userId], 'beyond the limit of the path')
    const deleted = await view(first.answerId, 9)
    t.match(deleted.found, { id: first.answerId, deletedAt: Date })
    t.strictSame(idsOf(deleted.foundPath), [first.userId, first.answerId])
    t.match(await view('no-such-message', 9), { found: undefined, foundPath: [] })
    t.match(await viewOf((decide) => turns.begin(bob, 'viewed-1', context, decide)), { thread: undefined, path: [] })
  })

  t.test('a client id that branches share is found on the branch on show', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const first = await takeTurn(database, alice, 'edited-1', 'q', 'a')
    const edits = ['one', 'two'].map((content) => userMessage(content, { clientId: first.userId }))
    await turns.begin(alice, 'edited-1', context, () => ({ messages: edits, result: 0 }))
    const lookUp = async (contextLimit: number) => (await viewOf((decide) => turns.begin(alice, 'edited-1', { lookup: first.userId, contextLimit }, decide))).found?.id
    t.equal(await lookUp(9), edits[1]?.id)
    await threads.update(alice, 'edited-1', { headId: edits[0]?.id })
    t.equal(await lookUp(9), edits[0]?.id)
    const deeper = userMessage('deeper', { parentId: edits[0]?.id })
    await turns.begin(alice, 'edited-1', context, () => ({ messages: [deeper], result: 0 }))
    t.equal(await lookUp(1), edits[0]?.id, 'also beyond the limit of the path')
  })

  t.test('a checkpoint saves the parts of running runs of its holder and names the others', async (t) => {
    const database = await open(t)
    const { turns, threads } = database
    const [one, two, ended] = [await startTurn(database, alice, 'saved-1', 'q'), await startTurn(database, alice, 'saved-2', 'q'), await takeTurn(database, alice, 'saved-3', 'q', 'final')]
    const checkpoints = [one, two, ended].map(({ runId, answerId }) => ({ runId, messageId: answerId, parts: text(`so far ${runId}`), processingMs: 1_234 }))
    t.strictSame(await turns.checkpoint(holder, checkpoints), [ended.runId])
    t.strictSame(await turns.checkpoint('somebody-else', checkpoints), checkpoints.map(({ runId }) => runId))
    t.strictSame(await turns.checkpoint(holder, []), [])
    t.match(await turns.messageOfRun(two.runId), { parts: text(`so far ${two.runId}`), processingMs: 1_234 })
    t.match((await threads.history(alice, 'saved-3', { limit: 1 }))?.items[0], { parts: text('final'), processingMs: undefined })
  })

  t.test('a run ends once, with its message, and frees the thread', async (t) => {
    const database = await open(t)
    const { turns, threads } = database
    const turn = await startTurn(database, alice, 'ended-1', 'q')
    const usage = { input: 3, output: 2, reasoning: 1, cachedRead: 0, cacheWrite: 0 }
    t.equal(await turns.finish('somebody-else', endOf(turn, 'no')), false)
    t.equal(await turns.finish(holder, endOf(turn, 'cut', { runStatus: 'failed', messageStatus: 'failed', usage, costUsd: 0.25, processingMs: 1_500, errorCode: 'provider_unavailable', errorRef: 'abcd1234', finishReason: 'error' })), true)
    t.equal(await turns.finish(holder, endOf(turn, 'late')), false)
    t.match((await threads.history(alice, 'ended-1', { limit: 1 }))?.items[0], { parts: text('cut'), status: 'failed', usage, costUsd: 0.25, processingMs: 1_500, finishReason: 'error' })
    t.match(await turns.messageOfRun(turn.runId), { errorCode: 'provider_unavailable', errorRef: 'abcd1234', completedAt: Date })
    t.match(await turns.run(alice, turn.runId), { status: 'failed', errorCode: 'provider_unavailable', endedAt: Date })
    t.equal(await turns.activeRun(alice, 'ended-1'), undefined)
  })

  t.test('a turn that said nothing leaves no message, and its run stays', async (t) => {
    const database = await open(t)
    const { turns, threads } = database
    const turn = await startTurn(database, alice, 'silent-1', 'q')
    t.equal(await turns.finish(holder, endOf(turn, '', { runStatus: 'stopped', messageStatus: 'stopped', discardMessage: true })), true)
    t.match(await threads.get(alice, 'silent-1'), { headId: turn.userId, messageCount: 1 })
    t.match(await turns.run(alice, turn.runId), { status: 'stopped' })
    await takeTurn(database, alice, 'silent-1', 'q2', 'a2')
    t.strictSame((await threads.history(alice, 'silent-1', { limit: 9 }))?.items.map(({ position }) => position), [1, 3, 4], 'no position is given twice')
  })

  t.test('a thread removed while its run streams stays removed', async (t) => {
    const database = await open(t)
    const { turns, threads } = database
    const turn = await startTurn(database, alice, 'removed-1', 'q')
    await threads.remove(alice, 'removed-1')
    t.strictSame(await turns.checkpoint(holder, [{ runId: turn.runId, messageId: turn.answerId, parts: text('x'), processingMs: 5 }]), [turn.runId])
    t.equal(await turns.finish(holder, endOf(turn, 'x')), false)
    t.equal(await threads.get(alice, 'removed-1'), undefined)
    t.strictSame((await threads.list(alice, { limit: 9 })).items, [])
  })

  t.test('threads removed while their runs end leave neither a deadlock nor a trace', async (t) => {
    const database = await open(t)
    const names = Array.from({ length: 20 }, (_, index) => `vanishing-${index}`)
    const turns = await Promise.all(names.map((name) => startTurn(database, alice, name, 'q')))
    await Promise.all([
      ...turns.map((turn) => database.turns.finish(holder, endOf(turn, 'a'))),
      ...names.map((name) => database.threads.remove(alice, name)),
      database.turns.checkpoint(holder, turns.map(({ runId, answerId }) => ({ runId, messageId: answerId, parts: text('x'), processingMs: 5 })))
    ])
    t.strictSame((await database.threads.list(alice, { limit: 50 })).items, [])
  })

  t.test('a suspended run keeps its thread and is continued under the same message', async (t) => {
    const database = await open(t)
    const { turns } = database
    const turn = await startTurn(database, alice, 'waiting-1', 'q')
    await turns.finish(holder, endOf(turn, 'may I?', { runStatus: 'suspended', messageStatus: 'suspended' }))
    t.match(await turns.activeRun(alice, 'waiting-1'), { id: turn.runId, status: 'suspended', endedAt: undefined })
    t.strictSame(await turns.runningRuns(), [])
    const run = { id: 'next-run', messageId: turn.answerId, agentId: 'agent-1', holder, leaseUntil: inOneMinute() }
    await turns.begin(alice, 'waiting-1', context, () => ({
      messages: [],
      endRun: { id: turn.runId, messageId: turn.answerId, parts: undefined, status: 'completed' },
      continueMessage: { id: turn.answerId, parts: text('going on'), status: 'streaming' },
      run,
      result: 0
    }))
    t.match(await turns.run(alice, turn.runId), { status: 'completed', endedAt: Date })
    t.match(await turns.messageOfRun('next-run'), { id: turn.answerId, status: 'streaming', parts: text('going on'), completedAt: undefined })
    t.strictSame(await turns.checkpoint(holder, [{ runId: 'next-run', messageId: turn.answerId, parts: text('further'), processingMs: 5 }]), [])
    t.equal(await turns.finish(holder, endOf({ ...turn, runId: 'next-run' }, 'done')), true)
    t.match((await database.threads.history(alice, 'waiting-1', { limit: 1 }))?.items[0], { id: turn.answerId, parts: text('done'), status: 'completed' })
  })

  t.test('what a run waits for is stored with its end, or neither is', async (t) => {
    const database = await open(t)
    const { turns, approvals } = database
    const turn = await startTurn(database, alice, 'asking-1', 'q')
    const root: FrameCheckpoint = { agentId: 'agent-1', path: [], messages: [], step: 1, toolCalls: 0, reminders: 0, calledTools: [], text: '', reasoning: [], calls: [], results: [], waiting: [] }
    const asking = (...names: string[]) => endOf(turn, 'may I?', {
      runStatus: 'suspended', messageStatus: 'suspended',
      suspension: {
        checkpoint: { root, usage: noTokens, memberCalls: 0, metadata: {} },
        approvals: names.map((toolName, index) => ({ id: `approval-${index}`, callId: `c${index}`, agentPath: [], toolName, input: { to: 'ada' }, expiresAt: inOneMinute() }))
      }
    })
    await t.rejects(turns.finish(holder, asking('send', undefined as unknown as string)), 'the second has no tool')
    t.match(await turns.run(alice, turn.runId), { status: 'running' })
    t.strictSame(await approvals.pending(alice, 'asking-1'), [])
    t.equal(await turns.finish(holder, asking('send', 'wipe')), true)
    t.match(await turns.run(alice, turn.runId), { status: 'suspended' })
    t.match(await approvals.pending(alice, 'asking-1'), [
      { id: 'approval-0', runId: turn.runId, callId: 'c0', agentPath: [], toolName: 'send', input: { to: 'ada' }, inputHash: /^[0-9a-f]{64}$/, expiresAt: Date, status: 'pending' }, { id: 'approval-1', toolName: 'wipe' }
    ])
  })

  t.test('a new message supersedes a suspended run, whose message keeps what it is told to', async (t) => {
    const database = await open(t)
    const { turns } = database
    const turn = await startTurn(database, alice, 'superseded-1', 'q')
    await turns.finish(holder, endOf(turn, 'may I?', { runStatus: 'suspended', messageStatus: 'suspended' }))
    const next = await turns.begin(alice, 'superseded-1', context, (view) => ({
      ...planTurn(view, 'never mind'),
      endRun: { id: turn.runId, messageId: turn.answerId, parts: text('not answered'), status: 'stopped' as const }
    }))
    t.match(await turns.run(alice, turn.runId), { status: 'stopped' })
    t.match((await database.threads.history(alice, 'superseded-1', { limit: 9 }))?.items, [{}, { id: turn.answerId, status: 'stopped', parts: text('not answered') }, { id: next.userId }])
  })

  t.test('two running runs of a thread are refused by the database itself', async (t) => {
    const database = await open(t)
    await startTurn(database, alice, 'single-1', 'q')
    let calls = 0
    const blind = database.turns.begin(alice, 'single-1', context, (view) => {
      calls++
      return planTurn(view, 'again')
    })
    await t.rejects(blind, { code: 'storage_unavailable' })
    t.ok(calls > 1, 'decided again after each conflict')
    t.equal((await database.threads.get(alice, 'single-1'))?.messageCount, 2)
  })

  t.test('a run whose holder is dead is interrupted once, and only as it was seen', async (t) => {
    const database = await open(t)
    const { turns } = database
    const turn = await startTurn(database, alice, 'orphan-1', 'q')
    const [seen] = await turns.runningRuns()
    if (seen === undefined) return t.fail('the run is listed')
    t.strictSame(seen.principal, alice)
    t.equal(await turns.interrupt({ ...seen, holder: 'somebody-else' }, { parts: text('x'), errorRef: 'r' }), false)
    await turns.renewLeases(holder, new Date(Date.now() + 120_000))
    t.equal(await turns.interrupt(seen, { parts: text('x'), errorRef: 'r' }), false, 'its lease was renewed meanwhile')
    const [again] = await turns.runningRuns()
    if (again === undefined) return t.fail('the run is still listed')
    await turns.checkpoint(holder, [{ runId: turn.runId, messageId: turn.answerId, parts: text('so'), processingMs: 200 }])
    t.equal(await turns.interrupt(again, { parts: text('so far'), errorRef: '01234567' }), true)
    t.equal(await turns.interrupt(again, { parts: text('x'), errorRef: 'r' }), false)
    t.equal(await turns.finish(holder, endOf(turn, 'late')), false)
    t.match((await database.threads.history(alice, 'orphan-1', { limit: 1 }))?.items[0], { status: 'interrupted', parts: text('so far'), processingMs: 200 })
    t.match(await turns.messageOfRun(turn.runId), { errorRef: '01234567', completedAt: Date })
    t.equal(await turns.activeRun(alice, 'orphan-1'), undefined)
  })

  t.test('a title made by us is kept only while the thread has none', async (t) => {
    const { threads, turns } = await open(t)
    await threads.create(alice, { id: 'untitled-1', agentId: 'agent-1' })
    t.equal(await turns.suggestTitle(bob, 'untitled-1', 'Mine'), false)
    t.equal(await turns.suggestTitle(alice, 'untitled-1', 'Guess\0'), true)
    t.equal(await turns.suggestTitle(alice, 'untitled-1', 'Second'), false)
    t.equal((await threads.get(alice, 'untitled-1'))?.title, 'Guess')
  })

  t.test('an answer that is created without a run is found by search, a running one only when it is finished', async (t) => {
    const database = await open(t)
    const turn = await startTurn(database, alice, 'found-1', 'q')
    await database.turns.checkpoint(holder, [{ runId: turn.runId, messageId: turn.answerId, parts: text('needle'), processingMs: 5 }])
    const find = async () => (await database.threads.list(alice, { limit: 9, q: 'needle' })).items.length
    t.equal(await find(), 0)
    await database.turns.finish(holder, endOf(turn, 'needle'))
    t.equal(await find(), 1)
    await database.turns.begin(alice, 'found-2', context, () => ({ createThread: { agentId: 'agent-1' }, messages: [answer(undefined, { status: 'completed', parts: text('a needle') })], result: 0 }))
    t.equal(await find(), 2)
  })
}

async function viewOf (begin: (decide: (view: TurnView) => TurnPlan<TurnView>) => Promise<TurnView>): Promise<TurnView> {
  return begin((view) => ({ messages: [], result: view }))
}

function idsOf (messages: readonly { readonly id: string }[]): string[] {
  return messages.map(({ id }) => id)
}
