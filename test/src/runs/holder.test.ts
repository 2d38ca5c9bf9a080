import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import t from 'tap'
import { createHolder, isProvablyDead } from '../../../src/runs/holder.ts'

const self = createHolder()

t.test('each start of a process has a name of its own that tells host and process', async (t) => {
  t.ok(self.startsWith(`${hostname()}/${process.pid}/`))
  t.not(createHolder(), self)
})

const gone = spawnSync(process.execPath, ['-e', '']).pid

const cases = [
  { name: 'itself', holder: self, dead: false },
  { name: 'a process of this host that is gone', holder: `${hostname()}/${gone}/a`, dead: true },
  { name: 'a process of this host that lives', holder: `${hostname()}/${process.ppid}/a`, dead: false },
  { name: 'a process of this host that lives and is another user\'s', holder: `${hostname()}/1/a`, dead: false },
  { name: 'an earlier process that had the same number', holder: `${hostname()}/${process.pid}/earlier`, dead: true },
  { name: 'a process of another host, of which nothing is known', holder: `elsewhere/${gone}/a`, dead: false },
  { name: 'a name without a process', holder: `${hostname()}/none/a`, dead: true }
]

for (const { name, holder, dead } of cases) t.test(`provably dead or not: ${name}`, async (t) => { t.equal(isProvablyDead(holder, self), dead) })
