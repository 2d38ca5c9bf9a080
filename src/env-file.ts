import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads `.env` of the folder into the process's environment; variables that are set already stay as they are. Returns
 * the file, or undefined when there is none. A file that cannot be read is an error: half a configuration is worse.
 */
export function loadEnvFile (folder: string): string | undefined {
  const file = join(folder, '.env')
  if (!existsSync(file)) return undefined
  process.loadEnvFile(file)
  return file
}
