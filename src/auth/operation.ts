export const domains = ['agent', 'thread', 'memory', 'integration'] as const
/** What a list of permissions is for. */
export type Domain = typeof domains[number]

/** What callers do, and whose list of permissions is asked where nothing more is known. */
export const domainOf = {
  view_agent: 'agent',
  chat: 'agent',
  run: 'agent',
  manage_agent: 'agent',
  use_integration: 'integration',
  list_threads: 'thread',
  view_thread: 'thread',
  manage_thread: 'thread',
  rate: 'thread',
  upload: 'thread',
  view_file: 'thread',
  manage_file: 'thread',
  decide_approval: 'thread',
  view_memory: 'memory',
  manage_memory: 'memory'
} as const satisfies Record<string, Domain>

export type Operation = keyof typeof domainOf

export function isOperation (name: unknown): name is Operation {
  return typeof name === 'string' && Object.hasOwn(domainOf, name)
}
