// Compiles TypeScript in test processes with esbuild, which takes a third of the time of tap's own compiler. Loaded
// before everything else through NODE_OPTIONS, see scripts/test.mjs.

if (process.env.TAP_CHILD_ID !== undefined) {
  // tap's own compiler stands down when it is told that types need no more than stripping.
  process.env.TAP_TYPE_STRIP_ONLY = '1'
  // What a test starts is plain Node, unless it passes its own arguments on.
  delete process.env.NODE_OPTIONS
  process.execArgv.push('--import=tsx/esm')
  await import('tsx/esm')
}
