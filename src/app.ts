import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { randomUUID } from 'node:crypto'
import bodyDepth from '../plugins/body-depth.ts'
import closeSignal from '../plugins/close-signal.ts'
import crossOrigin from '../plugins/cross-origin.ts'
import errors, { answerClientError, answerFrameworkError, maxParamLength } from '../plugins/errors.ts'
import jsonBody from '../plugins/json-body.ts'
import metrics from '../plugins/metrics.ts'
import openapi from '../plugins/openapi.ts'
import pipelined from '../plugins/pipelined.ts'
import principal from '../plugins/principal.ts'
import rateLimit from '../plugins/rate-limit.ts'
import readiness from '../plugins/readiness.ts'
import requestEnd from '../plugins/request-end.ts'
import requestLog from '../plugins/request-log.ts'
import services from '../plugins/services.ts'
import streamReply from '../plugins/stream-reply.ts'
import tracing from '../plugins/tracing.ts'
import uploads from '../plugins/uploads.ts'
import chatRoutes from '../routes/api/chat.ts'
import healthRoutes from '../routes/health.ts'
import metricsRoutes from '../routes/metrics.ts'
import openapiRoutes from '../routes/openapi.ts'
import { tags } from '../routes/reference/describe.ts'
import { components } from '../routes/reference/shapes.ts'
import agUiRoutes from '../routes/v1/ag-ui.ts'
import agentRoutes from '../routes/v1/agents.ts'
import approvalRoutes from '../routes/v1/approvals.ts'
import artifactRoutes from '../routes/v1/artifacts.ts'
import chatCompletionRoutes from '../routes/v1/chat-completions.ts'
import fileRoutes from '../routes/v1/files.ts'
import messageRoutes from '../routes/v1/messages.ts'
import modelRoutes from '../routes/v1/models.ts'
import runRoutes from '../routes/v1/runs.ts'
import runtimeAgentRoutes from '../routes/v1/runtime-agents.ts'
import threadRoutes from '../routes/v1/threads.ts'
import threadStreamRoutes from '../routes/v1/thread-stream.ts'
import uploadRoutes from '../routes/v1/uploads.ts'
import type { AgentKit } from './agents/agent-kit.ts'
import type { AgentRegistry, ModelRegistry } from './agents/registry.ts'
import { createPermissions, type Permissions } from './auth/permissions.ts'
import type { Config } from './config.ts'
import type { Database } from './database/database.ts'
import { noIntegrations, type Integrations } from './tools/integrations.ts'

export interface AppOptions {
  readonly config: Config
  /** Those of the configuration. */
  readonly agents: AgentRegistry
  /** What runtime agents are made of; there are none when absent. */
  readonly agentKit?: AgentKit | undefined
  readonly models: ModelRegistry
  /** Closed with the app; none when absent. */
  readonly integrations?: Integrations
  /** Who may do what; the defaults when absent. */
  readonly permissions?: Permissions
  /** Closed with the app. */
  readonly database: Database
  /** Silent when absent. */
  readonly log?: FastifyBaseLogger
}

/** The whole service, ready to listen or to be injected into. Every replaceable part is an option. */
export async function buildApp ({ config, agents, agentKit, models, integrations = noIntegrations, permissions = createPermissions(), database, log }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    ...(log === undefined ? {} : { loggerInstance: log }),
    bodyLimit: config.maxBodyBytes,
    trustProxy: trusted(config.trustProxy),
    genReqId: () => randomUUID(),
    logController: new LogController({ disableRequestLogging: true }), // plugins/request-log.ts writes one line instead of two
    routerOptions: { maxParamLength },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
    // Otherwise an idle keep-alive connection holds the exit, and late requests for stop, resume and history are refused.
    forceCloseConnections: true,
    return503OnClosing: false
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)

  await app.register(pipelined)
  await app.register(requestEnd)
  await app.register(tracing, config)
  await app.register(metrics)
  await app.register(errors)
  await app.register(requestLog)
  await app.register(crossOrigin, { origins: config.corsOrigins })
  await app.register(jsonBody)
  await app.register(bodyDepth)
  await app.register(rateLimit, config)
  await app.register(closeSignal)
  await app.register(streamReply, { heartbeatMs: config.heartbeatMs })
  await app.register(uploads, { config })
  await app.register(services, { config, agents, agentKit, models, integrations, permissions, database })
  await app.register(readiness)

  await app.register(openapi, { config, tags, components })
  await app.register(healthRoutes)
  await app.register(metricsRoutes)
  await app.register(openapiRoutes)
  await app.register(async (scope) => {
    await scope.register(principal, { config, prefixes: ['/v1', '/api'] })
    await scope.register(agentRoutes, { prefix: '/v1' })
    await scope.register(runtimeAgentRoutes, { prefix: '/v1' })
    await scope.register(threadRoutes, { prefix: '/v1' })
    await scope.register(messageRoutes, { prefix: '/v1' })
    await scope.register(approvalRoutes, { prefix: '/v1' })
    await scope.register(artifactRoutes, { prefix: '/v1' })
    await scope.register(threadStreamRoutes, { prefix: '/v1' })
    await scope.register(fileRoutes, { prefix: '/v1' })
    await scope.register(uploadRoutes, { prefix: '/v1' })
    await scope.register(runRoutes, { prefix: '/v1' })
    await scope.register(chatCompletionRoutes, { prefix: '/v1' })
    await scope.register(modelRoutes, { prefix: '/v1' })
    await scope.register(agUiRoutes, { prefix: '/v1' })
    await scope.register(chatRoutes, { prefix: '/api' })
  })
  return app
}

/** A number of proxies is a rule on the hop. */
function trusted (trustProxy: Config['trustProxy']): NonNullable<FastifyServerOptions['trustProxy']> {
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy
  return typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy]
}
