import fp from 'fastify-plugin'
import { createAgentCatalogue, type AgentCatalogue } from '../src/agents/agent-catalogue.ts'
import type { AgentKit } from '../src/agents/agent-kit.ts'
import type { AgentRegistry, ModelRegistry } from '../src/agents/registry.ts'
import { createApprovalService, type ApprovalService } from '../src/approvals/approval-service.ts'
import { createArtifactService, type ArtifactService } from '../src/artifacts/artifact-service.ts'
import type { Permissions } from '../src/auth/permissions.ts'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database/database.ts'
import type { FileService } from '../src/files/file-service.ts'
import { openFiles } from '../src/files/files.ts'
import { newId } from '../src/ids.ts'
import { createMemories } from '../src/memories/memories.ts'
import { createChat, type ChatService } from '../src/runs/chat.ts'
import { createCheckpointer } from '../src/runs/checkpointer.ts'
import { createHolder } from '../src/runs/holder.ts'
import { createHeadlessService, type HeadlessService } from '../src/runs/headless.ts'
import { keepLeases } from '../src/runs/lease-keeper.ts'
import { createMemoryRunLog } from '../src/runs/memory/memory-run-log.ts'
import { createRecovery } from '../src/runs/recovery.ts'
import { createRunRegistry, type RunRegistry } from '../src/runs/run-registry.ts'
import { createRunService, type RunService } from '../src/runs/run-service.ts'
import { createStartTurn } from '../src/runs/start-turn.ts'
import { observeWith } from '../src/runtime/run-observer.ts'
import { createSummaryCache } from '../src/runtime/summary-cache.ts'
import type { RuntimeAgentService } from '../src/runtime-agents/runtime-agent-service.ts'
import { openRuntimeAgents } from '../src/runtime-agents/runtime-agents.ts'
import { createThreadAccess } from '../src/threads/thread-access.ts'
import { createThreadService, type ThreadService } from '../src/threads/thread-service.ts'
import type { Integrations } from '../src/tools/integrations.ts'

declare module 'fastify' {
  interface FastifyInstance {
    agents: AgentRegistry
    catalogue: AgentCatalogue
    database: Database
    approvals: ApprovalService
    artifacts: ArtifactService
    chat: ChatService
    headless: HeadlessService
    files: FileService
    integrations: Integrations
    runs: RunService
    runtimeAgents: RuntimeAgentService
    threads: ThreadService
    runRegistry: RunRegistry
  }
}

export interface ServicesOptions {
  readonly config: Config
  readonly agents: AgentRegistry
  readonly agentKit: AgentKit | undefined
  readonly models: ModelRegistry
  readonly integrations: Integrations
  readonly permissions: Permissions
  readonly database: Database
}

/** Builds what the routes use, from the parts the process was given; ends it with the app. */
export default fp<ServicesOptions>(async (app, { config, agents: configured, agentKit, models, integrations, permissions, database: untimed }) => {
  const { log } = app
  const database = app.metrics.timeStores(untimed)
  const { turns } = database
  const runtimeAgents = await openRuntimeAgents({ kit: agentKit, configured, permissions, store: database.runtimeAgents, newId, log })
  const agents = runtimeAgents.registry
  const holder = createHolder()
  const runLog = createMemoryRunLog({ graceMs: config.runGraceMs })
  const runRegistry = createRunRegistry({ runLog, log, graceMs: config.runGraceMs })
  const recovery = createRecovery({ turns, runs: runRegistry, holder, log })
  const checkpointer = createCheckpointer({ turns, holder, log })
  const observer = observeWith(app.tracing === undefined ? [app.metrics.runs] : [app.metrics.runs, app.tracing.runs])
  const { toolOutputLimit, subagentDigestLimit, approvalTtlMs } = config
  const access = createThreadAccess({ permissions, store: database.threads })
  const deps = { models, agents, permissions, log, toolOutputLimit, subagentDigestLimit, approvalTtlMs, observer, summaries: createSummaryCache() }
  const files = openFiles({ config, agents, access, database, holder, newId, log })
  const { attachments } = files
  const memories = createMemories({ agents: { all: () => [...agents.all(), ...runtimeAgents.bases] }, database: database.memories })
  const startTurn = createStartTurn({ turns, checkpointer, holder, deps, attachments, memories, historyToolOutputLimit: config.historyToolOutputLimit })
  const chat = createChat({ agents, permissions, access, turns, runs: runRegistry, recovery, holder, deps, newId, attachments, startTurn })
  const approvals = createApprovalService({ store: database.approvals, access, chat, log })

  app.decorate('agents', agents)
  app.decorate('catalogue', createAgentCatalogue({ agents, permissions, integrations }))
  app.decorate('database', database)
  app.decorate('integrations', integrations)
  app.decorate('runRegistry', runRegistry)
  app.decorate('chat', chat)
  app.decorate('approvals', approvals)
  app.decorate('artifacts', createArtifactService({ store: database.artifacts, access, agents, log }))
  app.decorate('headless', createHeadlessService({ agents, permissions, chat, deps, newId }))
  app.decorate('runtimeAgents', runtimeAgents.service)
  app.decorate('runs', createRunService({ turns, access, runs: runRegistry, chat }))
  app.decorate('threads', createThreadService({ store: database.threads, access, turns, agents, permissions, chat, files: files.cleanup, memories, newId }))
  app.decorate('files', files.service)

  await recovery.sweep()
  await files.start()
  const leases = keepLeases({ turns, recovery, holder, log, expireApprovals: approvals.expire })
  app.addHook('onClose', async () => {
    leases.close()
    await runtimeAgents.close()
    await runRegistry.drain(0)
    await integrations.close()
    await files.close()
    await checkpointer.close()
    await runLog.close()
    await database.close()
  })
}, { name: 'services', dependencies: ['metrics', 'tracing'] })
