import { buildIfNeeded } from './build-output.mjs'

try {
  buildIfNeeded()
} catch (error) {
  console.error(`The service cannot start, its build failed: ${error.message}`)
  process.exit(1)
}

// In this process: signals that npm forwards reach the server itself, and its exit code is ours.
await import('../dist/src/server.js')
