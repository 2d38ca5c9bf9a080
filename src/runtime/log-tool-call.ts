import { redactSecrets } from '../tools/redact.ts'
import type { RunLogger } from './log.ts'

/** Says which tool is called, and at level debug with what; secrets are left out. */
export function logToolCall (log: RunLogger, { toolName, callId, input }: { readonly toolName: string, readonly callId: string, readonly input: unknown }): void {
  log.info({ tool: toolName, callId }, 'tool call')
  // Read only by a log that writes the line.
  log.debug({ tool: toolName, callId, arguments: { toJSON: () => redactSecrets(input) } }, 'arguments of a tool call')
}
