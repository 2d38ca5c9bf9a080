// Runs the test files that its parent names, one after the other, each as a subtest: TAP on standard output. Many files
// share this process, because to start one and to import the service takes longer than most files do; and without tap's
// own runner and its compiler, which cost more still.
import { register } from 'node:module'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { root } from './build-output.mjs'
import { subtests } from './tap-of-file.mjs'

const leftOverMs = 5_000
const byFile = globalThis[Symbol.for(subtests)] = new Map()

register('./tap-of-file.mjs', import.meta.url)
t.setTimeout(0) // the parent has a limit for each file
// tap does not wait for the parent's messages, and ends when nothing else happens.
const untilParentIsDone = setInterval(() => {}, 60_000)
process.on('message', async (file) => {
  const { href } = pathToFileURL(file)
  await t.test(relative(root, file), { timeout: 0 }, async (t) => {
    byFile.set(href, t)
    await import(href)
  })
  byFile.delete(href)
  if (process.connected) process.send('done')
})
process.once('disconnect', () => {
  clearInterval(untilParentIsDone)
  setTimeout(giveUp, leftOverMs).unref()
})

/** Only where a test left something open: otherwise the process has ended by now. */
function giveUp () {
  console.error(`Its tests are over, but the process is kept alive by ${process.getActiveResourcesInfo().join(', ')}`)
  process.exit(1)
}
