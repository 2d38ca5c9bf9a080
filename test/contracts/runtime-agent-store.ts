import type { Test } from 'tap'
import type { RuntimeAgent, RuntimeSettings } from '../../src/runtime-agents/runtime-agent-store.ts'
import type { OpenDatabase } from './thread-store.ts'
import { alice, bob, otherAlice } from './turns.ts'

const settings: RuntimeSettings = { base: 'plain', name: 'N', description: null, instructions: null, model: null, tools: [], suggestions: null, active: true }

/** What every implementation of RuntimeAgentStore does. */
export function runtimeAgentStoreContract (t: Test, open: OpenDatabase): void {
  t.test('what is kept is read again as it was, in the order it was made', async (t) => {
    const { runtimeAgents: store } = await open(t)
    t.strictSame([await store.revision(), await store.all()], [0, []])
    const all: RuntimeSettings[] = [settings, { ...settings, name: 'Ünïcode 🙂 \'";--', description: '', instructions: 'Two\nlines', model: 'offline', tools: ['a', 'b"'], suggestions: false, active: false }, { ...settings, suggestions: true }]
    const made: RuntimeAgent[] = []
    for (const [index, one] of all.entries()) made.push(await store.insert(alice, `id-${index}`, one))
    t.match(made.map(({ createdAt, updatedAt, ...row }) => row), all.map((one, index) => ({ ...one, id: `id-${index}`, tenantId: alice.tenantId, createdBy: alice.userId, revision: index + 1 })))
    t.strictSame(await store.all(), made)
    t.equal(await store.revision(), 3)
  })

  t.test('text that a database refuses is kept without what it refuses', async (t) => {
    const { runtimeAgents: store } = await open(t)
    const made = await store.insert(alice, 'id-1', { ...settings, name: 'half \ud800', instructions: 'NUL \0' })
    t.match(made, { name: 'half \ufffd', instructions: 'NUL ' })
    t.strictSame(await store.all(), [made])
  })

  t.test('a change is of the agent as it was seen, of the own tenant, and has the next revision', async (t) => {
    const { runtimeAgents: store } = await open(t)
    const made = await store.insert(alice, 'id-1', settings)
    const changed = await store.update(bob, made, { ...settings, name: 'Changed', tools: ['a'] })
    t.match(changed, { ...settings, name: 'Changed', tools: ['a'], id: 'id-1', createdBy: alice.userId, createdAt: made.createdAt })
    t.ok(changed !== undefined && changed.revision > made.revision)
    for (const principal of [alice, otherAlice]) t.equal(await store.update(principal, made, settings), undefined, 'it is at another revision')
    t.equal(await store.update(otherAlice, changed ?? made, settings), undefined, 'it is another tenant’s')
    t.strictSame(await store.all(), [changed])
  })

  t.test('one is removed by the own tenant, once', async (t) => {
    const { runtimeAgents: store } = await open(t)
    await store.insert(alice, 'id-1', settings)
    const kept = await store.insert(otherAlice, 'id-2', settings)
    t.equal(await store.remove(otherAlice, 'id-1'), undefined)
    const before = await store.revision()
    const revision = await store.remove(bob, 'id-1')
    t.ok(revision !== undefined && revision > before)
    t.equal(await store.revision(), revision)
    t.equal(await store.remove(bob, 'id-1'), undefined)
    t.strictSame(await store.all(), [kept])
  })

  t.test('changes at the same time each have a revision of their own, and all are kept', async (t) => {
    const { runtimeAgents: store } = await open(t)
    const made = await Promise.all(Array.from({ length: 20 }, (_, index) => store.insert(alice, `id-${index}`, settings)))
    t.strictSame(made.map(({ revision }) => revision).sort((a, b) => a - b), Array.from({ length: 20 }, (_, index) => index + 1))
    const changes = await Promise.all(Array.from({ length: 5 }, (_, index) => store.update(alice, made[0]!, { ...settings, name: `C${index}` }))) // there are 20
    t.equal(changes.filter((changed) => changed !== undefined).length, 1, 'of one agent only the first of those who saw the same')
  })
}
