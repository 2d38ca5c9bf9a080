import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import { notFound } from '../errors.ts'
import type { RunLogger } from '../runtime/log.ts'
import { untilAborted } from '../streams/abort.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { Page } from '../threads/thread-store.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import type { Artifact } from './artifact.ts'
import type { ArtifactQuery, ArtifactStore, StoredArtifact } from './artifact-store.ts'

export interface ArtifactService {
  /** The thread's, newest first, each as its definition resolves it for this reader; not_found without the thread. */
  list: (principal: Principal, threadId: string, query: ArtifactQuery & { readonly baseUrl: string }) => Promise<Page<StoredArtifact>>
}

export interface ArtifactServiceOptions {
  readonly store: ArtifactStore
  readonly access: ThreadAccess
  readonly agents: Pick<AgentRegistry, 'find'>
  readonly log: RunLogger
  /** How long one may take to be resolved. */
  readonly resolveMs?: number
}

export function createArtifactService ({ store, access, agents, log, resolveMs = 5_000 }: ArtifactServiceOptions): ArtifactService {
  return {
    async list (principal, threadId, { baseUrl, ...query }) {
      const page = await store.list(await access.enter(principal, 'view_thread', { threadId }), threadId, query)
      if (page === undefined) throw notFound('thread')
      return { ...page, items: await Promise.all(page.items.map((item) => resolved(principal, item, baseUrl))) }
    }
  }

  /** One that cannot be resolved is shown as it is stored: it must not hide the others. */
  async function resolved (principal: Principal, stored: StoredArtifact, baseUrl: string): Promise<StoredArtifact> {
    const { id: artifactId, name, threadId, messageId, agentId } = stored
    const resolve = artifactNamed(name, agents.find(agentId))?.resolve
    if (resolve === undefined) return stored
    const signal = AbortSignal.timeout(resolveMs)
    const work = async () => await resolve(structuredClone(stored.data) as never, { principal, threadId, messageId, artifactId, baseUrl, signal }) // it fitted the artifact's own schema
    try {
      return { ...stored, data: toJsonSafe(await untilAborted(work(), signal)) }
    } catch (error) {
      log.warn({ err: error, artifact: name, artifactId }, 'an artifact could not be resolved')
      return stored
    }
  }
}

/** Undefined where the agent, or the artifact, is not configured any more. */
function artifactNamed (name: string, agent: Agent | undefined): Artifact | undefined {
  const known = agent === undefined ? [] : [...agent.artifacts, ...Object.values(agent.toolArtifacts).map(({ artifact }) => artifact)]
  return known.find((artifact) => artifact.name === name)
}
