import type { AgentKit } from '../agents/agent-kit.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { RuntimePatch, RuntimeSettings } from '../agents/runtime-settings.ts'
import type { AgentObject } from '../auth/permission.ts'
import type { Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, invalidRequest, notFound, permissionDenied, type ErrorIssue } from '../errors.ts'
import type { KnownAgent, KnownAgents, KnownChange } from './known-agents.ts'
import { activeAgent } from './with-runtime-agents.ts'
import type { RuntimeAgentStore } from './runtime-agent-store.ts'
import { managedAgentView, runtimeAgentView, type ManagedAgentView, type RuntimeAgentView } from './runtime-agent-view.ts'

type View = RuntimeAgentView | ManagedAgentView

/**
 * Agents that are made while the service runs. They are their tenant's: not_found for everybody else, and for those who may
 * not manage them where they cannot be talked to. What cannot be an agent is invalid_request, which names the field.
 */
export interface RuntimeAgentService {
  /** In the order they were made. */
  readonly list: (principal: Principal) => Promise<readonly View[]>
  readonly get: (principal: Principal, id: string) => Promise<View>
  readonly create: (principal: Principal, settings: RuntimeSettings) => Promise<View>
  /** What is switched off may stay as it is, even where the configuration does not offer it any more. */
  readonly update: (principal: Principal, id: string, patch: RuntimePatch) => Promise<View>
  readonly remove: (principal: Principal, id: string) => Promise<void>
}

export interface RuntimeAgentServiceOptions {
  readonly kit: AgentKit
  readonly known: KnownAgents
  readonly store: Pick<RuntimeAgentStore, 'insert' | 'update' | 'remove'>
  readonly permissions: Pick<Permissions, 'may'>
  /** The agents of the configuration. */
  readonly configured: Pick<AgentRegistry, 'find'>
  readonly newId: () => string
}

// Each try is lost to somebody else's change of the same agent.
const attempts = 10

export function createRuntimeAgentService ({ kit, known, store, permissions, configured, newId }: RuntimeAgentServiceOptions): RuntimeAgentService {
  return {
    list: (principal) => known.upToDate(() => known.of(principal.tenantId).flatMap((one) => isVisible(principal, one) ? [viewFor(principal, one)] : [])),
    get: (principal, id) => known.upToDate(() => viewFor(principal, visible(principal, id))),
    create: (principal, settings) => known.upToDate(async ({ put }) => {
      if (!permissions.may(principal, 'manage_agent')) throw permissionDenied('manage_agent')
      const id = newId()
      // It would be found in place of this one.
      if (configured.find(id) !== undefined) throw new AppError('conflict', 'An agent of the configuration has this id.')
      const checked = check(principal, settings, id)
      return viewFor(principal, put(await store.insert(principal, id, checked)))
    }),
    update: (principal, id, patch) => known.upToDate(async (change) => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const updated = await tryUpdate(principal, id, patch, change)
        if (updated !== undefined) return viewFor(principal, updated)
        await change.refresh()
      }
      throw new AppError('conflict', 'Somebody else changes this agent at the same time.')
    }),
    remove: (principal, id) => known.upToDate(async ({ remove }) => {
      const { row } = manageable(principal, id)
      const revision = await store.remove(principal, id)
      if (revision === undefined) throw notFound('runtime agent')
      remove(row, revision)
    })
  }

  /** Undefined where it has changed meanwhile. */
  async function tryUpdate (principal: Principal, id: string, patch: RuntimePatch, { put }: KnownChange): Promise<KnownAgent | undefined> {
    const { row } = manageable(principal, id)
    const settings = patched(row, patch)
    const onlyEnds = patch.active === false && Object.keys(patch).length === 1
    const changed = await store.update(principal, row, onlyEnds ? settings : check(principal, settings, id))
    return changed === undefined ? undefined : put(changed)
  }

  /** The settings as they are kept: of a base that the caller manages, by its key, and of an agent that can be made. */
  function check (principal: Principal, settings: RuntimeSettings, id: string): RuntimeSettings {
    const base = kit.base(settings.base)
    if (base === undefined || !permissions.may(principal, 'view_agent', base)) throw refused([{ path: 'base', message: `there is no base "${settings.base}" for runtime agents` }])
    if (!permissions.may(principal, 'manage_agent', base)) throw permissionDenied('manage_agent')
    const { issues } = kit.make(settings, { id, tenantId: principal.tenantId })
    if (issues !== undefined) throw refused(issues)
    return { ...settings, base: base.key }
  }

  function manageable (principal: Principal, id: string): KnownAgent {
    const one = visible(principal, id)
    if (!mayManage(principal, one)) throw permissionDenied('manage_agent')
    return one
  }

  function visible (principal: Principal, id: string): KnownAgent {
    const one = known.find(id)
    if (one === undefined || !isVisible(principal, one)) throw notFound('runtime agent')
    return one
  }

  function isVisible (principal: Principal, one: KnownAgent): boolean {
    if (one.row.tenantId !== principal.tenantId) return false
    return (activeAgent(one) !== undefined && permissions.may(principal, 'view_agent', objectOf(one))) || mayManage(principal, one)
  }

  /** Whoever may do so at all, and where the agent has a list of its own, by that too. */
  function mayManage (principal: Principal, one: KnownAgent): boolean {
    return permissions.may(principal, 'manage_agent') && permissions.may(principal, 'manage_agent', objectOf(one))
  }

  /** One that cannot be made is still for those whom its base is for, as long as that is there. */
  function objectOf ({ row: { id, tenantId, name, base }, agent }: KnownAgent): AgentObject {
    if (agent !== undefined) return agent
    const { meta = {}, permissions: own } = kit.base(base) ?? configured.find(base) ?? {}
    return { kind: 'agent', id, key: id, name, meta, tenantId, permissions: own }
  }

  function viewFor (principal: Principal, one: KnownAgent): View {
    return mayManage(principal, one) ? managedAgentView(one) : runtimeAgentView(one)
  }
}

function patched ({ base, name, description, instructions, model, tools, suggestions, active }: RuntimeSettings, patch: RuntimePatch): RuntimeSettings {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  return { base, name, description, instructions, model, tools, suggestions, active, ...given }
}

function refused (issues: readonly ErrorIssue[]): AppError {
  const [first] = issues
  return invalidRequest(first === undefined ? 'This cannot be an agent.' : `${first.path}: ${first.message}`, issues)
}
