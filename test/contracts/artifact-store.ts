import type { Test } from 'tap'
import type { MessagePart } from '../../src/messages/parts.ts'
import type { TurnEnd } from '../../src/runs/turn-store.ts'
import type { OpenStores } from './thread-store.ts'
import { alice, bob, endOf, holder, otherAlice, startTurn } from './turns.ts'

const artifact = (id: string, parley: Record<string, unknown> = {}, data: unknown = { title: id }): MessagePart =>
  ({ type: 'tool-artifact_report', toolCallId: `call-${id}`, state: 'output-available', input: data, output: { artifactId: id }, callProviderMetadata: { parley: { artifact: 'report', ...parley } } })

/** What every implementation of ArtifactStore does, with what the turns of its database write. */
export function artifactStoreContract (t: Test, open: OpenStores): void {
  t.test('artifacts are written with the message that contains them, however its run ends', async (t) => {
    const database = await open(t)
    const { artifacts, turns } = database
    for (const runStatus of ['completed', 'suspended', 'stopped', 'failed'] as const) {
      const thread = `ended-${runStatus}`
      const turn = await startTurn(database, alice, thread, 'q')
      const parts = [artifact('a2'), artifact('a1', { artifactOf: 'c\0 1' }, { title: 'NUL \0 and \ud800' })]
      await turns.checkpoint(holder, [{ runId: turn.runId, messageId: turn.answerId, parts, processingMs: 5 }])
      t.strictSame(await ids(thread), [], 'not before')
      t.ok(await turns.finish(holder, endOf(turn, '', { runStatus, messageStatus: runStatus, parts })))
      t.match((await artifacts.list(alice, thread, { limit: 9 }))?.items, [
        { id: 'a2', threadId: thread, messageId: turn.answerId, runId: turn.runId, agentId: 'agent-1', name: 'report', data: { title: 'a2' }, callId: 'call-a2', sourceCallId: undefined, agentPath: [], createdAt: Date },
        { id: 'a1', sourceCallId: 'c 1', data: { title: 'NUL \0 and \ud800' } }
      ])
    }

    const turn = await startTurn(database, alice, 'orphaned-1', 'q')
    const run = await turns.activeRun(alice, 'orphaned-1')
    t.ok(run !== undefined && await turns.interrupt(run, { parts: [artifact('a1')], errorRef: 'r' }))
    t.strictSame(await ids('orphaned-1'), ['a1'])
    t.equal(await turns.finish(holder, endOf(turn, '', { parts: [artifact('a1'), artifact('late')] })), false)
    t.strictSame(await ids('orphaned-1'), ['a1'], 'nothing without its message')

    async function ids (thread: string): Promise<string[] | undefined> {
      return (await artifacts.list(alice, thread, { limit: 9 }))?.items.map(({ id }) => id)
    }
  })

  t.test('only calls that made an artifact are one, and a member’s are the member’s', async (t) => {
    const database = await open(t)
    const agentPath = [{ agentId: 'member-1', name: 'Member', toolCallId: 'd1' }]
    const parts: MessagePart[] = [
      artifact('a1', { agentPath, agent: 'Member', parentToolCallId: 'd1' }),
      { ...artifact('failed'), state: 'output-error', errorText: 'no' } as MessagePart,
      { type: 'tool-artifact_fake', toolCallId: 'x', state: 'output-available', input: {}, output: { artifactId: 'fake' } },
      { type: 'text', text: 'said' }
    ]
    await end(await startTurn(database, alice, 'kinds-1', 'q'), { parts })
    t.match((await database.artifacts.list(alice, 'kinds-1', { limit: 9 }))?.items, [{ id: 'a1', agentId: 'member-1', agentPath }])

    async function end (turn: Parameters<typeof endOf>[0], fields: Partial<TurnEnd>): Promise<void> {
      await database.turns.finish(holder, endOf(turn, '', fields))
    }
  })

  t.test('they are their owner’s, and an id is free in every other thread', async (t) => {
    const database = await open(t)
    for (const principal of [alice, bob, otherAlice]) {
      const turn = await startTurn(database, principal, 'owned-1', 'q')
      await database.turns.finish(holder, endOf(turn, '', { parts: [artifact('a1', {}, { of: principal.userId + principal.tenantId })] }))
    }
    for (const principal of [alice, bob, otherAlice]) {
      t.match((await database.artifacts.list(principal, 'owned-1', { limit: 9 }))?.items, [{ data: { of: principal.userId + principal.tenantId } }])
    }
    await database.threads.remove(alice, 'owned-1')
    t.equal(await database.artifacts.list(alice, 'owned-1', { limit: 9 }), undefined)
    t.equal((await database.artifacts.list(bob, 'owned-1', { limit: 9 }))?.items.length, 1)
  })
}
