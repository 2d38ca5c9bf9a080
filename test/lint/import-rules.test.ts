import { ESLint } from 'eslint'
import t from 'tap'

const eslint = new ESLint()

const refused = [
  { file: 'src/streams/merge.ts', imports: '../events/run-event.ts' },
  { file: 'src/streams/merge.ts', imports: '../errors.ts' },
  { file: 'src/errors.ts', imports: './streams/batch.ts' },
  { file: 'src/config.ts', imports: './errors.ts' },
  { file: 'src/events/order.ts', imports: '../messages/parts.ts' },
  { file: 'src/agents/prompt.ts', imports: '../runtime/loop.ts' },
  { file: 'src/tools/tool.ts', imports: '../runs/run-log.ts' },
  { file: 'src/models/offline.ts', imports: '../protocols/sse.ts' },
  { file: 'src/messages/assembler.ts', imports: '../database/database.ts' },
  { file: 'src/messages/assembler.ts', imports: '../app.ts' },
  { file: 'src/runtime/loop.ts', imports: '../runs/run-log.ts' },
  { file: 'src/runtime/loop.ts', imports: '../protocols/sse.ts' },
  { file: 'src/runtime/loop.ts', imports: '../database/database.ts' },
  { file: 'src/runs/registry.ts', imports: '../protocols/sse.ts' },
  { file: 'src/runs/memory/run-log.ts', imports: '../../database/database.ts' },
  { file: 'src/protocols/ai-sdk/encode.ts', imports: '../../runtime/loop.ts' },
  { file: 'src/protocols/ai-sdk/encode.ts', imports: '../../runs/run-log.ts' },
  { file: 'src/protocols/ai-sdk/encode.ts', imports: '../../database/database.ts' },
  { file: 'src/threads/thread-service.ts', imports: '../protocols/sse.ts' },
  { file: 'src/ratings/rating-service.ts', imports: '../database/database.ts' },
  { file: 'src/auth/principal.ts', imports: '../../plugins/auth.ts' },
  { file: 'src/storage/open-storages.ts', imports: '../database/database.ts' },
  { file: 'src/database/database.ts', imports: '../runtime/loop.ts' },
  { file: 'plugins/runs.ts', imports: '../routes/health.ts' },
  { file: 'routes/v1/agents.ts', imports: '../../src/runtime/loop.ts' },
  { file: 'routes/v1/agents.ts', imports: '../../src/runs/run-log.ts' },
  { file: 'routes/v1/agents.ts', imports: '../../src/models/model.ts' },
  { file: 'routes/v1/agents.ts', imports: '../../src/database/database.ts' },
  { file: 'src/runtime/loop.ts', imports: 'openai' },
  { file: 'src/models/offline.ts', imports: 'openai/resources' },
  { file: 'plugins/database.ts', imports: '@prisma/client' },
  { file: 'plugins/database.ts', imports: '../src/database/generated/sqlite/client.ts' },
  { file: 'src/database/database.ts', imports: 'fastify' },
  { file: 'src/models/openai-chat.ts', imports: '@fastify/cors' },
  { file: 'src/models/openai-chat.ts', imports: '@prisma/client' },
  { file: 'src/runs/registry.ts', imports: 'fastify-plugin' },
  { file: 'plugins/metrics.ts', imports: 'prom-client' },
  { file: 'src/runs/registry.ts', imports: '@opentelemetry/api' },
  { file: 'src/tools/tool.ts', imports: '@modelcontextprotocol/sdk/types.js' },
  { file: 'src/metrics/run-metrics.ts', imports: '../database/database.ts' },
  { file: 'src/runs/registry.ts', imports: './run-log' },
  { file: 'test/src/runs/registry.test.ts', imports: '../../../src/runs/registry' }
]

const allowed = [
  { file: 'src/streams/merge.ts', imports: './batch.ts' },
  { file: 'src/events/order.ts', imports: '../errors.ts' },
  { file: 'src/agents/load-registry.ts', imports: '../models/providers.ts' },
  { file: 'src/runtime/loop.ts', imports: '../messages/assembler.ts' },
  { file: 'src/runs/memory/run-log.ts', imports: '../../events/run-event.ts' },
  { file: 'src/runs/registry.ts', imports: '../runtime/loop.ts' },
  { file: 'src/protocols/ai-sdk/encode.ts', imports: '../sse.ts' },
  { file: 'src/threads/thread-service.ts', imports: '../runs/turn-store.ts' },
  { file: 'src/database/thread-store.ts', imports: '../threads/thread-store.ts' },
  { file: 'src/database/database.ts', imports: '@prisma/client' },
  { file: 'src/database/database.ts', imports: './generated/sqlite/client.ts' },
  { file: 'src/models/openai-chat.ts', imports: 'openai' },
  { file: 'src/metrics/run-metrics.ts', imports: 'prom-client' },
  { file: 'src/tracing/tracer.ts', imports: '@opentelemetry/api' },
  { file: 'src/tools/mcp/mcp-client.ts', imports: '@modelcontextprotocol/sdk/types.js' },
  { file: 'src/errors.ts', imports: '@fastify/error' },
  { file: 'src/app.ts', imports: 'fastify' },
  { file: 'plugins/runs.ts', imports: '../src/runs/registry.ts' },
  { file: 'plugins/runs.ts', imports: 'fastify-plugin' },
  { file: 'routes/v1/agents.ts', imports: '../../src/protocols/ai-sdk/encode.ts' },
  { file: 'routes/v1/runs.ts', imports: '../../src/runs/run-view.ts' }
]

t.test('an import across a layer boundary is reported', async (t) => {
  for (const { file, imports } of refused) {
    t.match(await problems(file, `import { it } from '${imports}'\nit()\n`), [/no-restricted-imports$/], `${file} must not import ${imports}`)
  }
})

t.test('an import within the layer rules is not reported', async (t) => {
  for (const { file, imports } of allowed) {
    t.strictSame(await problems(file, `import { it } from '${imports}'\nit()\n`), [], `${file} may import ${imports}`)
  }
})

t.test('a boundary holds for types too, except in routes', async (t) => {
  t.match(await problems('src/runtime/loop.ts', "import type { RunLog } from '../runs/run-log.ts'\nexport type It = RunLog\n"), [/no-restricted-imports$/])
  t.strictSame(await problems('routes/v1/runs.ts', "import type { Run } from '../../src/runs/turn-store.ts'\nexport type It = Run\n"), [])
})

t.test('the environment is read in the configuration only', async (t) => {
  const code = 'export const it = process.env.PORT\n'
  t.match(await problems('src/runs/registry.ts', code), ['no-restricted-properties'])
  t.match(await problems('plugins/runs.ts', code), ['no-restricted-properties'])
  t.strictSame(await problems('src/config.ts', code), [])
})

t.test('nothing but the terminal commands prints', async (t) => {
  const code = "console.log('hello')\n"
  t.match(await problems('src/runs/registry.ts', code), ['no-console'])
  t.strictSame(await problems('src/cli/check.ts', code), [])
  t.strictSame(await problems('scripts/build.mjs', code), [])
})

t.test('exports have names, except where a loader wants a default', async (t) => {
  const code = 'export default 1\n'
  t.match(await problems('src/runs/registry.ts', code), ['no-restricted-syntax'])
  t.strictSame(await problems('plugins/runs.ts', code), [])
  t.strictSame(await problems('agents/assistant.ts', code), [])
})

t.test('a type may not be any', async (t) => {
  t.match(await problems('src/runs/registry.ts', 'export type It = any\n'), ['@typescript-eslint/no-explicit-any'])
})

async function problems (filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath })
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message)
}
