import type { Environment, Terminal } from './terminal.ts'
import { check } from './check.ts'
import { createKey } from './create-key.ts'
import { listAgents } from './list-agents.ts'

export interface CliOptions extends Environment, Terminal {
  readonly argv: readonly string[]
  readonly version: string
  /** Starts the server; resolves once it listens or failed. */
  readonly start: () => Promise<unknown>
}

const usage = `Usage: parley <command>

Commands:
  check [file]  Validates the configuration without starting
  agents        Lists the agents with their ids
  key <user>    Makes a key for AUTH=keys
  start         Starts the server

Options:
  --tenant <name>  Tenant of the key's user, "default" when left out
  --role <name>    Role of the key's user; may come more than once
  -h, --help       Shows this text
  -v, --version    Shows the version
`

/** Runs one command and returns the exit code: 0, 1 when something is wrong with the project, 2 for wrong usage. */
export async function main (options: CliOptions): Promise<number> {
  const { argv: [command, ...rest], out, err, version, start } = options
  const unknown = rest.find((argument) => argument.startsWith('-')) ?? (command === 'check' ? rest[1] : rest[0])
  if (command === '--help' || command === '-h' || command === 'help' || rest.includes('--help') || rest.includes('-h')) {
    out(usage)
    return 0
  }
  if (command === '--version' || command === '-v') {
    out(`${version}\n`)
    return 0
  }
  if (command === 'key') return createKey(rest, options) ?? misused('Expected: parley key <user> [--tenant <name>] [--role <name>]...')
  if (unknown !== undefined) return misused(`Unknown argument "${unknown}".`)
  switch (command) {
    case 'check': return check(rest[0], options)
    case 'agents': return listAgents(options)
    case 'start':
      await start()
      return 0
    case undefined: return misused('No command given.')
    default: return misused(`Unknown command "${command}".`)
  }

  function misused (problem: string): number {
    err(`${problem}\n\n${usage}`)
    return 2
  }
}
