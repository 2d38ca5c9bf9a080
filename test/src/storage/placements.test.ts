import t from 'tap'
import { createProcessPlacements } from '../../../src/storage/process-placements.ts'
import { layerPlacements } from '../../../src/storage/layered-placements.ts'
import { placementsContract } from '../../contracts/placements.ts'

const ada = { tenantId: 'north', ownerId: 'ada' }

t.test('placements of a process', async (t) => {
  placementsContract(t, async () => createProcessPlacements())
})

t.test('placements in two layers', async (t) => {
  placementsContract(t, async () => layerPlacements({ process: createProcessPlacements(), lasting: createProcessPlacements(), memory: 'memory' }))

  t.test('what is in memory is known to this process alone, and an id of one layer is taken for the other', async (t) => {
    const [process, lasting] = [createProcessPlacements(), createProcessPlacements()]
    const placements = layerPlacements({ process, lasting, memory: 'memory' })
    await placements.claim(ada, 'thread-1', 'memory')
    await placements.claim(ada, 'thread-2', 'archive')
    await placements.addItems(ada, 'thread-1', ['run-1'])
    await placements.addItems(ada, 'thread-2', ['run-2'])
    t.strictSame([await lasting.storages(), await process.storages()], [['archive'], ['memory']])
    t.equal((await placements.claim(ada, 'thread-1', 'archive')).storage, 'memory')
    t.equal((await placements.claim(ada, 'thread-2', 'memory')).storage, 'archive')
    t.strictSame(await Promise.all(['run-1', 'run-2'].map((id) => placements.storageOfItem(id))), ['memory', 'archive'])
    t.strictSame([await lasting.storageOfItem('run-1'), await process.storageOfItem('run-2')], [undefined, undefined])
  })
})
