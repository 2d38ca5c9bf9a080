import { buildChecked, buildIfNeeded } from './build-output.mjs'

try {
  if (process.argv.includes('--if-needed')) buildIfNeeded()
  else buildChecked()
} catch (error) {
  console.error(`The build failed: ${error.message}`)
  process.exitCode = 1
}
