import neostandard, { plugins, resolveIgnoresFromGitignore } from 'neostandard'

const source = ['src/**/*.ts', 'plugins/**/*.ts', 'routes/**/*.ts']

/** What each layer must not import; the table in CONTRIBUTING.md is this one in words. No file is in two rows. */
const layers = [
  { files: ['src/streams/**'], never: outside(), why: 'Stream tools know nothing of ours.' },
  { files: ['src/errors.ts', 'src/config.ts'], never: beside(), why: 'Errors and the configuration build on nothing of ours.' },
  { files: ['src/events/**'], never: outside('errors.ts'), why: 'Events know errors and nothing else of ours.' },
  { files: ['src/{agents,tools,models,messages}/**'], never: folders('runtime', 'runs', 'protocols', 'database'), why: 'The run loop uses definitions, models and messages, never the other way round.' },
  { files: ['src/runtime/**'], never: folders('runs', 'protocols', 'database'), why: 'The run loop yields events and does not know who records, encodes or stores them.' },
  { files: ['src/runs/**'], never: folders('protocols', 'database'), why: 'A run is recorded the same whatever shows or stores it.' },
  { files: ['src/protocols/**'], never: folders('runtime', 'runs', 'database'), why: 'A protocol sees events and messages only.' },
  { files: ['src/{threads,ratings,files,memories,artifacts,approvals,usage,auth,runtime-agents}/**'], never: folders('protocols', 'database'), why: 'Resources speak to their own store port.' },
  { files: ['src/{metrics,tracing}/**'], never: folders('agents', 'runs', 'protocols', 'database'), why: 'What watches the work is handed to it and does not know who does it.' },
  { files: ['src/database/**'], never: folders('agents', 'models', 'runtime', 'protocols'), why: 'The database implements store ports and decides nothing.' },
  { files: ['routes/**'], never: folders('runtime', 'runs(?!/run-view\\.ts$)', 'models', 'database'), why: 'A route parses, makes one service call and replies.', allowTypeImports: true },
  { files: ['plugins/**'], never: /^(\.\.\/)+routes\//, why: 'Routes use plugins, never the other way round.' }
]

/** Packages that are closed to all but a few files. No file is in two rows. */
const packages = [
  { regex: '^openai(/|$)', open: ['src/models/openai-*.ts', 'src/models/providers.ts', 'src/models/upstream-*.ts'], message: 'Clients of providers end in src/models.' },
  { regex: '^@prisma/|/database/generated/', open: ['src/database/**'], message: 'Prisma ends in src/database.' },
  { regex: '^prom-client$', open: ['src/metrics/**'], message: 'Measurements end in src/metrics.' },
  { regex: '^@modelcontextprotocol/', open: ['src/tools/mcp/**'], message: 'The client of MCP servers ends in src/tools/mcp.' },
  { regex: '^@opentelemetry/', open: ['src/tracing/**'], message: 'Traces end in src/tracing.' },
  { regex: '^(fastify($|/|-)|@fastify/(?!error$))', open: ['plugins/**', 'routes/**', 'src/app.ts', 'src/server.ts'], message: 'Only plugins and routes know HTTP.' }
]

export default [
  ...neostandard({ ts: true, noJsx: true, ignores: [...resolveIgnoresFromGitignore(), 'test/fixtures/**'] }),
  {
    name: 'parley/typescript',
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      ...importRule()
    }
  },
  {
    name: 'parley/style',
    rules: {
      // Marks a promise that is deliberately not awaited.
      'no-void': ['error', { allowAsStatement: true }],
      // Columns of a row, or fields that belong together, may share a line.
      '@stylistic/object-property-newline': 'off'
    }
  },
  {
    name: 'parley/source',
    files: source,
    rules: {
      'max-lines': ['error', 300],
      'no-console': 'error',
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'src/config.ts reads the environment; server.ts hands it over.' }],
      'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'Named exports only: a default export is for a loader.' }],
      ...packageRule(packages)
    }
  },
  { name: 'parley/process', files: ['src/config.ts', 'src/server.ts', 'src/cli/**'], rules: { 'no-restricted-properties': 'off' } },
  { name: 'parley/terminal', files: ['src/cli/**', 'src/server.ts'], rules: { 'no-console': 'off' } },
  { name: 'parley/loaded', files: ['plugins/**', 'routes/**'], rules: { 'no-restricted-syntax': 'off' } },
  ...layers.map((layer) => ({ name: 'parley/layer', files: layer.files, rules: importRule(layer) })),
  ...packages.map(({ open }) => ({ name: 'parley/package', files: open, rules: packageRule(packages.filter((other) => other.open !== open)) }))
]

// Two rules that do the same, because the last configuration that matches a file replaces a rule's options: layers
// share one rule with the file extension, packages have the other for themselves.

function importRule (layer) {
  const patterns = [{ regex: '^\\.{1,2}/(?!.*\\.(ts|js|mjs|json)$)', message: 'Write the extension of the file: ../errors.ts' }]
  if (layer !== undefined) {
    const { never, why, allowTypeImports = false } = layer
    patterns.push({ regex: never.source, message: why, allowTypeImports })
  }
  return { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] }
}

function packageRule (closed) {
  return { 'no-restricted-imports': ['error', { patterns: closed.map(({ regex, message }) => ({ regex, message })) }] }
}

/** Folders of src/, as a file of another folder names them, and what composes the application, which nobody imports. */
function folders (...names) {
  return new RegExp(`^(\\.\\./)+((src/)?(${names.join('|')})/|(app|server)\\.ts$|(plugins|routes)/)`)
}

/** Everything outside the own folder, except some files of src/. */
function outside (...allowed) {
  return allowed.length === 0 ? /^\.\.\// : new RegExp(`^\\.\\./(?!(${allowed.join('|')})$)`)
}

/** Everything of ours. */
function beside () {
  return /^\.{1,2}\//
}
