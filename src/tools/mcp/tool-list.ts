import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { z } from 'zod'
import type { IntegrationLog } from '../integration-log.ts'
import { withLinkedSignal } from './linked-signal.ts'
import { noTimeoutMs } from './mcp-client.ts'

/** One tool as its server describes it. */
export const listedToolSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z.looseObject({ title: z.string().optional() }).optional().catch(undefined),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined)
})

export type ListedTool = z.output<typeof listedToolSchema>

// One tool that is not as it should be must not cost the others, as the package's own schema would have it.
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })
// No model can choose among more; and a list may be endless.
const mostTools = 1_000
const mostPages = 100

/** The tools of a server, in its order. Those that are described wrongly, or that cannot be called like others, are left out. */
export async function listTools (client: Client, { signal, log }: { signal: AbortSignal, log: IntegrationLog }): Promise<ListedTool[]> {
  const tools: ListedTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages && tools.length < mostTools; page++) {
    const request = { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) } as const
    const { tools: listed, nextCursor } = await withLinkedSignal(signal, async (linked) => await client.request(request, pageSchema, { signal: linked, timeout: noTimeoutMs }))
    tools.push(...listed.flatMap((item) => usable(item, log)))
    if (nextCursor === undefined) break
    cursor = nextCursor
  }
  return tools.slice(0, mostTools)
}

function usable (item: unknown, log: IntegrationLog): ListedTool[] {
  const { data, error } = listedToolSchema.safeParse(item)
  if (data === undefined) {
    log.warn({ reason: z.prettifyError(error).slice(0, 500) }, 'an integration describes a tool wrongly; it is left out')
    return []
  }
  // Such a tool answers with a task, which would have to be asked for again and again.
  if (data.execution?.taskSupport === 'required') return []
  return [data]
}
