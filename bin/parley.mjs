#!/usr/bin/env node
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => new URL(`../${path}`, import.meta.url)
const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))

if (ensureBuilt()) {
  const { main } = await import(at('dist/src/cli/main.js').href)
  const { loadEnvFile } = await import(at('dist/src/env-file.js').href)
  loadEnvFile(process.cwd())
  process.exitCode = await main({
    argv: process.argv.slice(2),
    version,
    env: process.env,
    cwd: process.cwd(),
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    start: () => import(at('dist/src/server.js').href)
  })
}

/** A checkout is built when it was not yet or when its sources changed; an image has neither sources nor need. */
function ensureBuilt () {
  if (existsSync(at('dist/src/cli/main.js')) && !existsSync(at('src/cli/main.ts'))) return true
  // Progress goes to the error stream: the output of a command stays its own.
  const { status } = spawnSync(process.execPath, [fileURLToPath(at('scripts/build.mjs')), '--if-needed'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exitCode = 1
  return status === 0
}
