import t from 'tap'
import { definePermission, type Permission } from '../../../src/auth/permission.ts'
import { createPermissions } from '../../../src/auth/permissions.ts'
import type { Principal } from '../../../src/auth/principal.ts'
import { allowAll, hasRole, isAuthenticated, isOwner } from '../../../src/auth/shipped-permissions.ts'
import { createThreadAccess } from '../../../src/threads/thread-access.ts'
import type { Thread } from '../../../src/threads/thread-store.ts'
import { alice, bob } from '../../contracts/turns.ts'

const place = { threadId: 'thread-1' }
const thread: Thread = { id: 'thread-1', ownerId: 'alice', agentId: 'agent-1', title: undefined, metadata: {}, archived: false, headId: undefined, messageCount: 0, createdAt: new Date(), updatedAt: new Date(), lastMessageAt: undefined }

t.test('where everybody keeps to what is theirs, nothing is read: the caller asks as they are', async (t) => {
  for (const list of [undefined, [isOwner], [isOwner, isAuthenticated, hasRole('member')]]) {
    const { access, reads } = accessWith(list)
    const member = { ...alice, roles: ['member'] }
    t.equal(await access.enter(member, 'manage_thread', place), member)
    t.equal(await access.enter(member, 'view_thread', { runId: 'run-1' }), member)
    t.equal(await access.enterOrMake(member, 'chat', { ...place, agentId: undefined }), member)
    t.equal(await access.look(member, place), member)
    t.equal(access.listed(member), 'own')
    t.notOk(access.asksForEach)
    t.equal(reads(), 0)
  }
})

t.test('one of their own that a caller may not view is no place for a new one', async (t) => {
  const { access } = accessWith([definePermission({ filter: () => 'own', check: (_principal, operation) => operation !== 'view_thread' })])
  await t.rejects(access.enterOrMake(alice, 'chat', { ...place, agentId: undefined }), { code: 'not_found' })
  t.equal(await access.enterOrMake(bob, 'chat', { ...place, agentId: undefined }), bob)
  t.equal(await access.look(alice, place), undefined)
})

t.test('a caller who may list nothing is refused, and one who may view nothing has an empty list', async (t) => {
  t.throws(() => accessWith([hasRole('member')]).access.listed(alice), { code: 'permission_denied', details: { operation: 'list_threads' } })
  t.equal(accessWith([definePermission({ filter: (_principal, operation) => operation === 'view_thread' ? 'none' : 'all' })]).access.listed(alice), 'none')
  t.equal(accessWith([allowAll]).access.listed(alice), 'all')
})

t.test('a thread of another is asked for as its owner\'s, by the caller', async (t) => {
  const { access, reads } = accessWith([allowAll])
  t.strictSame(await access.enter(bob, 'rate', place), { ...bob, ownerId: 'alice' })
  t.strictSame(await access.enter(alice, 'rate', place), alice)
  t.equal(reads(), 2, 'by one look each')
})

function accessWith (list: readonly Permission[] | undefined) {
  let reads = 0
  const locate = async ({ userId }: Principal, _place: unknown, of: 'own' | 'all') => {
    reads++
    return of === 'all' || userId === 'alice' ? [thread] : []
  }
  return { reads: () => reads, access: createThreadAccess({ permissions: createPermissions(list === undefined ? {} : { lists: { thread: list } }), store: { locate } }) }
}
