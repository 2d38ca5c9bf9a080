import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigurationFaults, faultLine } from '../../../src/agents/faults.ts'
import { agentId } from '../../../src/agents/ids.ts'
import { loadRegistry, type LoadedRegistry } from '../../../src/agents/load-registry.ts'
import { loadConfig } from '../../../src/config.ts'

type Files = Record<string, string>

t.test('a folder of TypeScript, JavaScript, YAML and JSON is one registry, in the order of the configuration', async (t) => {
  const registry = await load(t, {
    'parley.config.ts': `
      import { defineAgent, defineConfig, defineTool } from 'parley'
      import { imported } from './agents/a.ts'
      const clock = defineTool({ name: 'clock', execute: () => 'noon' })
      export default defineConfig({
        agents: [{ key: 'plain', model: 'openai:gpt-x', description: 'An entry' }, 'agents/*', imported, 'more/list.json', 'named', defineAgent({ key: 'inline' })],
        tools: [clock],
        defaultAgent: 'b'
      })`,
    'agents/a.ts': "import { defineAgent } from 'parley'\nexport const imported = defineAgent({ key: 'a' })\nexport const other = { key: 'not an agent' }\n",
    'agents/b.mjs': "import { defineAgent } from 'parley'\nexport default defineAgent({ key: 'b', hidden: true, directAccess: true, aliases: ['b.old'] })\n",
    'agents/c.yaml': 'key: c\nname: The C\ntools: [clock]\n',
    'agents/README.md': '# Not an agent\n',
    'agents/named.js': "export default [{ key: 'n1' }, { key: 'n2' }]\n",
    'more/list.json': '[{ "key": "d" }, { "key": "e" }]'
  }, { OPENAI_API_KEY: 'key' })
  // `imported` is listed where it stands in the configuration; the glob does not bring it a second time.
  t.strictSame(registry.all().map(({ key }) => key), ['plain', 'b', 'c', 'n1', 'n2', 'a', 'd', 'e', 'inline'])
  t.strictSame(registry.list().map(({ key }) => key), ['plain', 'c', 'n1', 'n2', 'a', 'd', 'e', 'inline'])
  t.equal(registry.defaultAgent()?.key, 'b')
  t.match(registry.find('c'), { kind: 'agent', id: agentId('c'), key: 'c', name: 'The C', tools: [{ kind: 'tool', name: 'clock' }] })
  t.match(registry.find('plain'), { name: 'plain', model: 'openai:gpt-x' })
  t.strictSame(registry.warnings, [])
})

t.test('an agent is found by key, id, alias and the id of an alias, and by nothing else', async (t) => {
  const registry = await load(t, { 'parley.config.json': '{ "agents": [{ "key": "new", "aliases": ["old"] }, { "key": "base", "abstract": true }] }' })
  for (const name of ['new', agentId('new'), 'old', agentId('old')]) t.equal(registry.find(name)?.key, 'new', name)
  for (const name of ['base', agentId('base'), 'toString', '__proto__', '', 'NEW']) t.equal(registry.find(name), undefined, name)
  t.equal(registry.find('new'), registry.find(agentId('new')))
})

t.test('agents can be spread from an abstract base, which itself is not served', async (t) => {
  const registry = await load(t, {
    'parley.config.ts': `
      import { defineAgent, defineConfig } from 'parley'
      const base = defineAgent({ key: 'base', abstract: true, maxSteps: 3 })
      export default defineConfig({ agents: [base, defineAgent({ ...base, key: 'one', abstract: false }), { ...base, key: 'two', abstract: false }] })`
  })
  t.match(registry.all(), [{ key: 'one', maxSteps: 3 }, { key: 'two', maxSteps: 3 }])
  t.equal(registry.all().length, 2)
})

t.test('the default agent is the variable, else the file, else the only visible one', async (t) => {
  const agents = '"agents": [{ "key": "a" }, { "key": "b" }, { "key": "c", "hidden": true }]'
  const pick = async (json: string, env: Files = {}) => (await load(t, { 'parley.config.json': json }, env)).defaultAgent()?.key
  t.equal(await pick(`{ ${agents}, "defaultAgent": "a" }`, { DEFAULT_AGENT: agentId('b') }), 'b')
  t.equal(await pick(`{ ${agents}, "defaultAgent": "a" }`), 'a')
  t.equal(await pick(`{ ${agents} }`), undefined)
  t.equal(await pick('{ "agents": [{ "key": "a" }, { "key": "c", "hidden": true }] }'), 'a')
})

t.test('models are full ids: of the agent, the variable, the file, or offline', async (t) => {
  const agents = '"agents": [{ "key": "a", "model": "local:llama3:8b" }, { "key": "b" }], "providers": { "local": { "baseURL": "http://127.0.0.1:1/v1" } }'
  const models = async (json: string, env: Files = {}) => (await load(t, { 'parley.config.json': json }, env)).all().map(({ model }) => model)
  t.strictSame(await models(`{ ${agents} }`), ['local:llama3:8b', 'offline'])
  t.strictSame(await models(`{ ${agents}, "defaultModel": "local:m" }`), ['local:llama3:8b', 'local:m'])
  t.strictSame(await models(`{ ${agents}, "defaultModel": "local:m" }`, { DEFAULT_MODEL: 'offline' }), ['local:llama3:8b', 'offline'])
  t.strictSame(await models(`{ ${agents}, "defaultModel": "gpt-x" }`, { OPENAI_API_KEY: 'k' }), ['local:llama3:8b', 'openai:gpt-x'])
})

t.test('without a configuration one built-in assistant is served, and that is said', async (t) => {
  const registry = await load(t, {})
  t.match(registry.all(), [{ key: 'assistant', model: 'offline' }])
  t.equal(registry.defaultAgent()?.key, 'assistant')
  t.equal(registry.file, undefined)
  t.match(registry.warnings, [/built-in assistant/])
})

t.test('PARLEY_CONFIG names the file, and its paths are relative to it', async (t) => {
  const registry = await load(t, { 'deploy/live.yaml': 'agents: [my/*.yaml]\n', 'deploy/my/a.yaml': 'key: a\n', 'parley.config.json': '{ "agents": [] }' }, { PARLEY_CONFIG: 'deploy/live.yaml' })
  t.strictSame(registry.all().map(({ key }) => key), ['a'])
  t.match(registry.file, /deploy.live\.yaml$/)
})

t.test('what the configuration tells of models is known to them, whether or not their provider has a key', async (t) => {
  const { models } = await load(t, { 'parley.config.yaml': 'agents: [{ key: a }]\nmodels: { offline: { contextWindow: 900 }, gpt-x: { prices: { input: 1, output: 2, cachedRead: 0.5 } } }\n' }, { OPENAI_API_KEY: 'key' })
  t.equal(models.get('offline').contextWindow, 900)
  t.strictSame(models.get('openai:gpt-x').prices, { input: 1, output: 2, cachedRead: 0.5 })
  t.equal((await load(t, { 'parley.config.yaml': 'agents: [{ key: a }]\nmodels: { gpt-x: {} }\n' })).models.defaultModel, 'offline')
})

t.test('a budget in dollars of a model without a price is pointed out, and one of tokens is not', async (t) => {
  const { warnings, find } = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, budget: { costUsd: 0.5, tokens: 10 } }, { key: b, budget: { tokens: 10 } }, { key: c, model: gpt-x, budget: { costUsd: 1 } }]\nmodels: { gpt-x: { prices: { input: 1, output: 2 } } }\n' }, { OPENAI_API_KEY: 'key', DEFAULT_MODEL: 'offline' })
  t.match(warnings, [/agent "a": budget: nothing is known of the price of "offline"/])
  t.equal(warnings.length, 1)
  t.strictSame(find('a')?.budget, { costUsd: 0.5, tokens: 10 })
})

t.test('fallback models are known by their full ids, and one that was asked before is pointed out', async (t) => {
  const { warnings, find } = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, model: gpt-x, fallbackModels: [gpt-y, "openai:gpt-x"] }, { key: b, model: gpt-x, fallbackModels: [offline], budget: { costUsd: 1 } }]\nmodels: { gpt-x: { prices: { input: 1, output: 2 } } }\n' }, { OPENAI_API_KEY: 'key' })
  t.strictSame(find('a')?.fallbackModels, ['openai:gpt-y', 'openai:gpt-x'])
  t.match(warnings, [/agent "a": fallbackModels\[1\]: "openai:gpt-x" has been asked before/, /agent "b": budget: .*"offline"/])
})

t.test('compaction for a model of which no context window is known is pointed out', async (t) => {
  const { warnings } = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, compaction: auto }, { key: b }, { key: c, model: gpt-x, compaction: { keepSteps: 2 } }]\nmodels: { gpt-x: { contextWindow: 9000 } }\ndefaultModel: offline\n' }, { OPENAI_API_KEY: 'key' })
  t.match(warnings, [/agent "a": compaction: nothing is known of the context window of "offline"/])
  t.equal(warnings.length, 1)
})

t.test('a second configuration file beside the first is pointed out', async (t) => {
  const registry = await load(t, { 'parley.config.mjs': "export default { agents: [{ key: 'a' }] }\n", 'parley.config.yaml': 'agents: []\n' })
  t.strictSame(registry.warnings, ['parley.config.yaml is not read, because parley.config.mjs is there.'])
})

t.test('a required tool that the agent lacks is a warning, unless a provider may bring it', async (t) => {
  const registry = await load(t, {
    'parley.config.mjs': "export default { agents: [{ key: 'a', requiredTools: ['lookup'] }, { key: 'b', requiredTools: ['lookup'], tools: [() => []] }, { key: 'd', requiredTools: ['lookup'], toolChoice: { tool: 'lookup' }, attachmentTools: () => [] }, { key: 'c', requiredTools: ['artifact_note'], artifacts: [{ name: 'note', data: { type: 'object' } }], toolArtifacts: { notes: { artifact: { name: 'x', data: { type: 'object' } }, build () {} } } }] }\n"
  })
  t.strictSame(registry.warnings, ['parley.config.mjs: agent "a": requiredTools: the agent has no tool "lookup", so nothing is required.', 'parley.config.mjs: agent "c": toolArtifacts: the agent has no tool "notes".'])
})

t.test('skills are found beside the file that lists them, else beside the configuration, and come with their tools', async (t) => {
  const skill = (name: string) => `---\nname: ${name}\ndescription: All about ${name}.\n---\nDo as ${name} says.\n`
  const registry = await load(t, {
    'deploy/parley.config.ts': `
      import { defineConfig, defineSkillAgent } from 'parley'
      import { quoting } from './agents/code.ts'
      export default defineConfig({ agents: ['agents/*', quoting, defineSkillAgent('skills/alone'), defineSkillAgent(new URL('./skills/shared', import.meta.url), { key: 'both', skills: ['skills/alone'] })] })`,
    'deploy/agents/list.yaml': 'key: yaml\nskills: [own, ./skills/shared]\n',
    'deploy/agents/code.ts': "import { defineAgent } from 'parley'\nexport const quoting = defineAgent({ key: 'code', instructions: 'Quote.', skills: ['skills/shared'], requiredTools: ['read_skill'], toolChoice: { tool: 'read_resource' } })\n",
    'deploy/agents/made.ts': "import { defineSkillAgent } from 'parley'\nexport default defineSkillAgent('own')\n",
    'deploy/agents/own/SKILL.md': skill('own'),
    'deploy/skills/shared/SKILL.md': skill('shared'),
    'deploy/skills/alone/SKILL.md': skill('alone')
  }, { PARLEY_CONFIG: 'deploy/parley.config.ts' })
  t.strictSame(registry.warnings, [])
  t.match(registry.find('yaml'), { instructions: /^You are a helpful agent\.\n\nAvailable skills, .*\n- own: All about own\.\n- shared: All about shared\.$/, tools: [{ name: 'read_skill' }, { name: 'read_resource' }] })
  t.match(registry.find('code'), { instructions: /^Quote\.\n\nAvailable skills/, tools: [{ name: 'read_skill' }, { name: 'read_resource' }] })
  t.match(registry.find('own'), { instructions: 'Do as own says.', tools: [{ name: 'read_resource' }] })
  t.match(registry.find('alone'), { instructions: 'Do as alone says.', tools: [{ name: 'read_resource' }] })
  const both = registry.find('both')
  t.match(both, { instructions: /^Do as shared says\.\n\nAvailable skills, .*\n- alone: / })
  t.strictSame(both?.tools.map(({ name }) => name), ['read_skill', 'read_resource'], 'one tool reads the files of both')
})

t.test('a file without code says where threads are kept by name, and code by a storage of its own', async (t) => {
  const named = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, storage: database }, { key: b, storage: memory }, { key: c, storage: none, memory: none }, { key: d }]\n' })
  t.strictSame(named.all().map(({ storage }) => storage), ['database', 'memory', 'none', 'database'])
  const coded = await load(t, {
    'parley.config.ts': `
      import { defineStorage } from 'parley'
      const archive = defineStorage({ name: 'archive', open: ({ openDatabase }) => openDatabase('file:./archive.db') })
      export default { agents: [{ key: 'a', storage: archive, memory: 'database' }, { key: 'b', storage: archive, memory: 'volatile' }] }`
  })
  t.match(coded.all().map(({ storage }) => storage), [{ kind: 'storage', name: 'archive', open: Function }, { name: 'archive' }])
})

t.test('an agent of steps is registered like any other, and every agent has the memory it names', async (t) => {
  const registry = await load(t, {
    'parley.config.ts': `
      import { askModel, defineConfig, defineStepsAgent, loop, retry, volatile } from 'parley'
      const steps = defineStepsAgent({
        key: 'steps', description: 'Step by step', memory: volatile({ threadsLimit: 5 }),
        initial: ({ question }) => ({ text: question }),
        steps: [loop({ while: ({ text }) => text.length < 9, atMost: 3 }, retry(askModel({ question: ({ text }) => ({ messages: text }), into: (state, text) => ({ text }) })))]
      })
      export default defineConfig({ agents: [steps, { key: 'kept', memory: 'database' }, { key: 'plain' }] })`
  })
  t.match(registry.find('steps'), { kind: 'agent', id: agentId('steps'), name: 'steps', description: 'Step by step', model: 'offline', tools: [], pipeline: { kind: 'pipeline', steps: { length: 1 } }, memory: { recall: Function, remember: Function } })
  t.match([registry.find('kept')?.memory, registry.find('plain')?.memory, registry.find('plain')?.pipeline], ['database', 'none', undefined])
})

t.test("an agent's integrations are providers after its own tools, from code and from YAML", async (t) => {
  const integrations = "{ docs: defineIntegration({ type: 'mcp', url: 'https://docs.example.com/mcp', userToken: () => 'x' }), files: { type: 'mcp', command: 'node', args: ['server.js'], passEnv: ['FILES_KEY'] } }"
  const registry = await load(t, {
    'parley.config.ts': `
      import { defineAgent, defineConfig, defineIntegration, defineTool } from 'parley'
      export default defineConfig({ agents: [defineAgent({ key: 'a', tools: [defineTool({ name: 'own' })], integrations: ['files', 'docs'], requiredTools: ['docs_search'] }), 'b.yaml'], integrations: ${integrations} })`,
    'b.yaml': 'key: b\nintegrations: [docs]\ntoolChoice: { tool: docs_search }\n'
  }, { FILES_KEY: 'key' })
  t.match(registry.find('a'), { integrations: ['files', 'docs'], tools: [{ name: 'own' }, Function, Function] })
  t.equal(registry.find('a')?.tools[2], registry.find('b')?.tools[0], 'agents share them')
  t.strictSame(registry.warnings, [], 'what tools there will be is known when a run starts')
  const yaml = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, integrations: [docs] }]\nintegrations:\n  docs: { type: mcp, url: "https://docs.example.com/sse", transport: sse, tokenEnv: DOCS_TOKEN, headers: { x-team: blue }, title: Handbook, roles: [staff] }\n' }, { DOCS_TOKEN: 'x' })
  t.strictSame(yaml.integrations.list(['docs'], { tenantId: 'default', userId: 'ada', roles: ['staff'] }), [{ name: 'docs', label: 'Handbook' }])
})

t.test('an integration at a private address is a warning, unless EGRESS_ALLOW names it', async (t) => {
  const files = { 'parley.config.yaml': 'agents: [{ key: a }]\nintegrations: { near: { type: mcp, url: "http://10.1.2.3/mcp" }, here: { type: mcp, url: "http://localhost:8931/mcp" }, named: { type: mcp, url: "http://tools.internal/mcp" } }\n' }
  const warning = (name: string) => `parley.config.yaml: integrations.${name}: its URL is of a private address, which EGRESS_ALLOW does not name: its tools will not be available`
  t.strictSame((await load(t, files)).warnings, [warning('near'), warning('here')])
  t.strictSame((await load(t, files, { EGRESS_ALLOW: 'localhost:8931,10.0.0.0/8' })).warnings, [])
})

t.test('what runtime agents may be made of is named, or given as it is', async (t) => {
  const code = await load(t, {
    'parley.config.ts': `
      import { defineAgent, defineConfig, defineTool } from 'parley'
      const base = defineAgent({ key: 'base', abstract: true, aliases: ['old'], tools: ['clock'] })
      const [clock, lamp] = ['clock', 'lamp'].map((name) => defineTool({ name }))
      export default defineConfig({ agents: [base, { key: 'a', hidden: true, directAccess: true }], tools: [clock], runtimeAgents: { bases: [base, 'a'], tools: [lamp, 'clock'], models: ['offline'] } })`
  })
  const kit = code.agentKit
  t.strictSame(kit?.bases.map(({ key }) => key), ['base', 'a'])
  for (const name of ['base', 'old', agentId('base'), agentId('old')]) t.equal(kit?.base(name)?.key, 'base', name)
  t.equal(kit?.base('clock'), undefined)
  const settings = { base: 'a', name: 'Made', description: null, instructions: null, model: 'offline:x', tools: ['clock', 'lamp'], suggestions: null, active: true }
  t.match(kit?.make(settings, { id: '01a23228-06ee-729c-8b98-e346d198cb92', tenantId: 'north' }), { agent: { id: '01a23228-06ee-729c-8b98-e346d198cb92', key: '01a23228-06ee-729c-8b98-e346d198cb92', tenantId: 'north', name: 'Made', model: 'offline', hidden: false, directAccess: false, abstract: false, tools: [{ name: 'clock' }, { name: 'lamp' }] } })
  t.match(kit?.make({ ...settings, base: 'base' }, { id: 'x', tenantId: 'north' }).issues, [{ path: 'tools.0', message: 'the base has a tool "clock" already' }])

  const yaml = await load(t, { 'parley.config.yaml': 'agents: [{ key: a }]\nruntimeAgents: { bases: [a] }\n' })
  t.match(yaml.agentKit?.make({ ...settings, model: null }, { id: 'x', tenantId: 'north' }).issues, [{ path: 'tools.0', message: 'there is no tool "clock" for runtime agents; none may be chosen' }, { path: 'tools.1' }])
  t.equal((await load(t, { 'parley.config.yaml': 'agents: [{ key: a }]\n' })).agentKit, undefined)
})

t.test('a runtime agent has what its base has where it says nothing, and none of what makes a base what it is', async (t) => {
  const skill = '---\nname: own\ndescription: All about it.\n---\nDo so.\n'
  const { agentKit } = await load(t, {
    'parley.config.ts': `
      import { defineConfig, defineStepsAgent } from 'parley'
      export default defineConfig({
        agents: [
          { key: 'a', aliases: ['b'], hidden: true, abstract: true, skills: ['own'], maxSteps: 3, meta: { team: 'x' }, memory: 'volatile', suggestions: { count: 1 }, agents: ['m'], budget: { tokens: 5 }, description: 'Of the base' },
          { key: 'm' },
          defineStepsAgent({ key: 'steps', initial: () => ({}), steps: [async function * () { yield 'x' }] })
        ],
        runtimeAgents: { bases: ['a', 'steps'], tools: [{ kind: 'tool', name: 'lamp', input: { type: 'object' } }] }
      })`,
    'own/SKILL.md': skill
  })
  const made = (settings: object) => agentKit?.make({ base: 'a', name: 'N', description: null, instructions: null, model: null, tools: [], suggestions: null, active: true, ...settings }, { id: 'made-1', tenantId: 'north' })
  t.match(made({}), { agent: { aliases: [], maxSteps: 3, meta: { team: 'x' }, memory: 'volatile', suggestions: { count: 1 }, crew: [{ key: 'm' }], budget: { tokens: 5 }, description: 'Of the base', instructions: /^You are a helpful agent\.\n\nAvailable skills/, tools: [{ name: 'read_skill' }, { name: 'read_resource' }] } })
  t.match(made({ instructions: 'Mine.', suggestions: true, description: '' }), { agent: { instructions: /^Mine\.\n\nAvailable skills/, suggestions: { count: 1 }, description: '' } })
  t.equal(made({ suggestions: false })?.agent?.suggestions, undefined)
  t.match(made({ base: 'steps' }), { agent: { pipeline: { kind: 'pipeline' } } })
  t.match(made({ base: 'steps', tools: ['lamp'] })?.issues, [{ path: 'tools', message: /an agent of steps has none/ }])
})

t.test('a model that runtime agents may choose, and that a base asks to be known more of, is pointed out', async (t) => {
  const { warnings } = await load(t, { 'parley.config.yaml': 'agents: [{ key: a, model: gpt-x, budget: { costUsd: 1 } }, { key: b, model: gpt-x }]\nmodels: { gpt-x: { prices: { input: 1, output: 2 } } }\nruntimeAgents: { bases: [a, b], models: [gpt-x, offline] }\n' }, { OPENAI_API_KEY: 'key' })
  t.match(warnings, [/^parley\.config\.yaml: runtimeAgents: base "a" with the model "offline": budget: nothing is known of the price/])
  t.equal(warnings.length, 1)
})

const mistakes: readonly { name: string, files: Files, env?: Files, lines: readonly (string | RegExp)[] }[] = [
  {
    name: 'wrong values and unknown attributes',
    files: { 'parley.config.mjs': "export default { agents: [{ key: 'a', modle: 'x', maxSteps: 0, timeouts: { idle: 1 }, tools: [3] }, { name: 'no key' }, 7] }\n" },
    lines: [
      /^parley\.config\.mjs: agent "a": maxSteps: /,
      'parley.config.mjs: agent "a": timeouts: unknown attribute "idle".',
      /^parley\.config\.mjs: agent "a": tools\[0\]: expected a tool made by defineTool, or expected a tool made by defineTool or a provider function, or /,
      'parley.config.mjs: agent "a": unknown attribute "modle". Did you mean "model"?',
      'parley.config.mjs: agents[1]: key: expected string, got nothing',
      /^parley\.config\.mjs: agents\[2\]: expected an agent/
    ]
  },
  {
    name: 'a definition that defineAgent refuses does not hide the next one',
    files: { 'parley.config.ts': "import { defineAgent, defineTool } from 'parley'\nexport default { agents: [defineAgent({ key: 'a b' }), defineAgent({ key: 'b', tools: [defineTool({ name: ' ' })] })] }\n" },
    lines: [/agent "a b": key: expected letters/, /agent "b": tools\[0\]: a tool needs a name/]
  },
  {
    name: 'a wrong attribute does not hide what is wrong with the others',
    files: { 'parley.config.yaml': 'agents: [{ key: a, maxSteps: 0, tools: [x], model: "nowhere:x", toolChoice: { tool: y } }, { key: b, tools: [3], toolChoice: { tool: y } }, { key: c, attachmentTools: [x], toolChoice: { tool: y } }]\n' },
    lines: [/agent "a": maxSteps: /, /agent "a": tools\[0\]: unknown tool "x"/, /agent "a": model: /, /agent "a": toolChoice: /, /agent "b": tools\[0\]: /, /agent "c": attachmentTools: expected a function/]
  },
  {
    name: 'artifacts and suggestions that cannot be what they are said to be',
    files: {
      'parley.config.ts': `
        import { defineArtifact, defineTool, z } from 'parley'
        const data = z.object({ a: z.string() })
        const tool = defineTool({ name: 'artifact_mine' })
        const card = defineArtifact({ name: 'card', data })
        export default { agents: [
          { key: 'a', artifacts: [defineArtifact({ name: 'no blanks', data }), { name: 'list', data: { type: 'array' } }, { name: 'none' }], toolChoice: { tool: 'artifact_list' } },
          { key: 'b', tools: [tool], artifacts: [card, card, { name: 'mine', data }], requiredTools: ['artifact_card'], toolArtifacts: { artifact_mine: { artifact: { name: 'card', data: z.object({}) }, build: () => null } } },
          { key: 'c', toolArtifacts: { x: { artifact: card, build: 'no' } } },
          { key: 'd', suggestions: { count: 4 } }, { key: 'e', suggestions: { model: 'nowhere:x' } }
        ] }`
    },
    lines: [
      /agent "a": artifacts\[0\]\.name: expected letters/, /agent "a": artifacts\[1\]\.data: expected the schema of an object, got "array"/, /agent "a": artifacts\[2\]\.data: expected a zod schema or a JSON schema/,
      /agent "b": artifacts\[1\]: a second artifact named "card"/, /agent "b": artifacts\[2\]: the agent has a tool "artifact_mine" of its own/, /agent "b": toolArtifacts\.artifact_mine: it is another artifact than the one named "card"/,
      /agent "c": toolArtifacts\.x\.build: expected a function/,
      /agent "d": suggestions\.count: /, /agent "e": suggestions\.model: /
    ]
  },
  {
    name: 'what is no setting of runtime agents',
    files: { 'parley.config.yaml': 'agents: [{ key: a }]\nruntimeAgents: { bases: [a], tool: [] }\n' },
    lines: ['parley.config.yaml: runtimeAgents: unknown attribute "tool". Did you mean "tools"?']
  },
  {
    name: 'bases, tools and models of runtime agents that are not there',
    files: {
      'parley.config.ts': `
        import { defineTool } from 'parley'
        const [clock, other] = ['clock', 'clock'].map((name) => defineTool({ name }))
        export default {
          agents: [{ key: 'a', aliases: ['a.old'] }, { key: 'base', abstract: true, agents: ['nobody'] }, { key: 'faulty', maxSteps: 0 }],
          tools: [clock],
          runtimeAgents: { bases: ['a', 'bse', 'a.old', 'base', 'faulty', 7], tools: ['clok', other, 'clock', clock, { kind: 'tool', name: '' }], models: ['offline', 'nowhere:x', 'offline:y'] }
        }`
    },
    lines: [
      /agent "faulty": maxSteps/,
      'parley.config.ts: runtimeAgents.bases[1]: no agent "bse" in this configuration. Did you mean "base"?', 'parley.config.ts: runtimeAgents.bases[2]: "a.old" is listed twice',
      'parley.config.ts: runtimeAgents.bases[3]: agents[0]: no agent "nobody" in this configuration.', 'parley.config.ts: runtimeAgents.bases[5]: expected an agent of this configuration, or the key of one',
      'parley.config.ts: runtimeAgents.tools[0]: unknown tool "clok". Did you mean "clock"?', 'parley.config.ts: runtimeAgents.tools[1]: "tools" has another tool named "clock"', 'parley.config.ts: runtimeAgents.tools[3]: a second tool named "clock"', 'parley.config.ts: runtimeAgents.tools[4]: a tool needs a name',
      /runtimeAgents\.models\[1\]: There is no model provider "nowhere"/, 'parley.config.ts: runtimeAgents.models[2]: a second entry for the model "offline"'
    ]
  },
  {
    name: 'runtime agents without a base',
    files: { 'parley.config.yaml': 'agents: [{ key: a }]\nruntimeAgents: { tools: clock, bases: [] }\n' },
    lines: ['parley.config.yaml: runtimeAgents: bases: expected at least one agent, or its key', 'parley.config.yaml: runtimeAgents: tools: expected a list of tools, or of their names']
  },
  {
    name: 'duplicate keys, in one file or in two',
    files: { 'parley.config.yaml': 'agents: [{ key: a }, { key: a }, more.yaml]\n', 'more.yaml': 'key: a\n' },
    lines: ['parley.config.yaml: agent "a": key is taken: it is the key of agent "a" in parley.config.yaml', 'more.yaml: agent "a": key is taken: it is the key of agent "a" in parley.config.yaml']
  },
  {
    name: 'aliases that collide with a key, an alias, or the id of either',
    files: { 'parley.config.yaml': `agents: [{ key: a, aliases: [b, x] }, { key: b, aliases: [x, ${agentId('a')}] }]\n` },
    lines: [/agent "a": alias "b" is taken: it is the key of agent "b"/, /agent "b": alias "x" is taken: it is the alias "x" of agent "a"/, /agent "b": alias "[\da-f-]{36}" is taken: it is the key of agent "a"/]
  },
  {
    name: 'unknown tools, two of one name, and a choice of none of them',
    files: {
      'parley.config.ts': `
        import { defineTool } from 'parley'
        const clock = defineTool({ name: 'clock' })
        export default { tools: [clock], agents: [{ key: 'a', tools: ['clok', 'clock', clock], toolChoice: { tool: 'lamp' } }] }`
    },
    lines: ['parley.config.ts: agent "a": tools[0]: unknown tool "clok". Did you mean "clock"?', 'parley.config.ts: agent "a": tools[2]: a second tool named "clock"', 'parley.config.ts: agent "a": toolChoice: the agent has no tool "lamp".']
  },
  {
    name: 'tools of the configuration that no model can be offered',
    files: {
      'parley.config.ts': `
        import { defineTool, z } from 'parley'
        export default {
          agents: [{ key: 'a' }],
          tools: [defineTool({ name: 'x', input: { type: 'objekt' } }), defineTool({ name: 'x', input: z.array(z.string()) }), { name: 'plain' }]
        }`
    },
    lines: [/tools\[0\]: input: is not a usable schema: /, 'parley.config.ts: tools[1]: input: expected the schema of an object, got "array"', 'parley.config.ts: tools[1]: a second tool named "x"', 'parley.config.ts: tools[2]: expected a tool made by defineTool']
  },
  {
    name: 'skills that are not there, not right, twice there, or in the way of a tool',
    files: {
      'parley.config.ts': `
        import { defineAgent, defineSkillAgent, defineTool } from 'parley'
        const tool = defineTool({ name: 'read_skill' })
        export default { agents: [
          defineSkillAgent('skills/wrong'), defineSkillAgent('skills/Gone'), { key: 'named' , skills: [1] },
          { key: 'a', maxSteps: 0, skills: ['skills/good', 'skills/again', 'skills/wrong', 'gone'], tools: [tool] }
        ] }`,
      'skills/good/SKILL.md': '---\nname: good\ndescription: Good\n---\n',
      'skills/again/SKILL.md': '---\nname: good\ndescription: Good\n---\n',
      'skills/wrong/SKILL.md': '---\nname: Wrong\ndescription: x\ntools: [a]\n---\n'
    },
    lines: [
      /^parley\.config\.ts: agent "wrong": skills\[0\]: "skills\/wrong": SKILL\.md: name: expected small letters/,
      'parley.config.ts: agent "wrong": skills[0]: "skills/wrong": SKILL.md: unknown attribute "tools".',
      'parley.config.ts: agent "skill": skills[0]: "skills/Gone": SKILL.md: does not exist',
      /^parley\.config\.ts: agent "named": skills\[0\]: expected string, got number/,
      /^parley\.config\.ts: agent "a": maxSteps: /,
      'parley.config.ts: agent "a": skills[1]: "skills/again": a second skill named "good"',
      /^parley\.config\.ts: agent "a": skills\[2\]: "skills\/wrong": SKILL\.md: name: /,
      'parley.config.ts: agent "a": skills[2]: "skills/wrong": SKILL.md: unknown attribute "tools".',
      'parley.config.ts: agent "a": skills[3]: "gone": SKILL.md: does not exist',
      /^parley\.config\.ts: agent "a": skills: the agent has a tool "read_skill" of its own/
    ]
  },
  {
    name: 'memories that are none, and pipelines without steps or with what only a model uses',
    files: {
      'parley.config.ts': `
        import { defineStepsAgent, defineTool } from 'parley'
        const steps = [async function * () {}]
        export default { agents: [
          { key: 'a', memory: 'disk' }, { key: 'b', memory: { recall () {} } },
          defineStepsAgent({ key: 'c', initial: {} }), defineStepsAgent({ key: 'd', initial: {}, steps: ['x'], maxStep: 1 }),
          defineStepsAgent({ key: 'e', initial: {}, steps, tools: [defineTool({ name: 'x' })], requiredTools: ['x'] }), { key: 'f', pipeline: steps }
        ] }`
    },
    lines: [
      'parley.config.ts: agent "a": memory: expected one of "none"|"database"|"volatile", or expected a memory, with the functions recall and remember',
      /^parley\.config\.ts: agent "b": memory: /,
      'parley.config.ts: agent "c": pipeline: expected steps, which are functions, and at least one of them',
      /^parley\.config\.ts: agent "d": pipeline: /,
      'parley.config.ts: agent "d": unknown attribute "maxStep". Did you mean "maxSteps"?',
      'parley.config.ts: agent "e": tools: an agent of steps has none; its steps call what they need',
      'parley.config.ts: agent "e": requiredTools: an agent of steps has none; its steps call what they need',
      /^parley\.config\.ts: agent "f": pipeline: /
    ]
  },
  {
    name: 'storages that are none, or do not go with what else is said',
    files: {
      'parley.config.ts': `
        import { defineStorage } from 'parley'
        const open = async ({ openDatabase }) => openDatabase('file::memory:')
        export default { agents: [
          { key: 'a', storage: 'memry' }, { key: 'b', storage: 'disk' }, { key: 'c', storage: { name: 'x', open } }, { key: 'd', storage: defineStorage({ name: 'Archive', open }) },
          { key: 'e', storage: defineStorage({ name: 'none', open }) }, { key: 'f', storage: defineStorage({ name: 'closed' }) },
          { key: 'g', storage: 'none', memory: 'volatile', fileUpload: true }, { key: 'h', storage: 'memory', fileUpload: true },
          { key: 'i', storage: defineStorage({ name: 'archive', open }), fileUpload: true }, { key: 'j', storage: defineStorage({ name: 'attic', open }) },
          { key: 'k', storage: defineStorage({ name: 'attic', open: () => open }) }
        ] }`,
    },
    lines: [
      'parley.config.ts: agent "a": storage: unknown storage "memry", expected database, memory, none, or one made by defineStorage. Did you mean "memory"?',
      'parley.config.ts: agent "b": storage: unknown storage "disk", expected database, memory, none, or one made by defineStorage.',
      /^parley\.config\.ts: agent "c": storage: expected database, memory, none, or a storage made by defineStorage, which needs a name of lower-case/,
      /^parley\.config\.ts: agent "d": storage: .* which needs a name of lower-case/,
      /^parley\.config\.ts: agent "e": storage: .* that is none of database, memory, none/,
      /^parley\.config\.ts: agent "f": storage: .* and a function "open"$/,
      'parley.config.ts: agent "g": fileUpload: files belong to threads of the database, and those of this agent are not in it (storage: none)',
      'parley.config.ts: agent "g": memory: an agent that keeps no threads has nothing to remember (storage: none)',
      'parley.config.ts: agent "h": fileUpload: files belong to threads of the database, and those of this agent are not in it (storage: memory)',
      'parley.config.ts: agent "i": fileUpload: files belong to threads of the database, and those of this agent are not in it (storage: archive)',
      'parley.config.ts: agent "k": storage: agent "j" has another storage named "attic"'
    ]
  },
  {
    name: 'an answer format that is no schema',
    files: { 'parley.config.yaml': 'agents: [{ key: a, responseFormat: { type: text } }]\n' },
    lines: [/agent "a": responseFormat: is not a usable schema: /]
  },
  {
    name: 'models and providers that are not there',
    files: { 'parley.config.yaml': 'agents: [{ key: a, model: "nowhere:x" }, { key: b }, { key: c, model: "far:x" }, { key: d, model: "bad:x" }]\ndefaultModel: far:y\nproviders: { far: { baseURL: "http://127.0.0.1:1", apiKeyEnv: FAR_KEY }, bad: { url: "x" } }\n' },
    lines: [/^parley\.config\.yaml: providers\.bad: unknown attribute "url"/, /^parley\.config\.yaml: defaultModel: .*FAR_KEY/, /agent "a": model: .*"nowhere"/, /agent "c": model: .*FAR_KEY/]
  },
  {
    name: 'integrations that cannot be what they say',
    files: {
      'parley.config.mjs': `export default { agents: [{ key: 'a' }], integrations: {
        plain: 'https://example.com', both: { type: 'mcp', url: 'https://example.com', command: 'node' }, none: { type: 'mcp' }, other: { type: 'rest', url: 'https://example.com' },
        typo: { type: 'mcp', url: 'ftp://example.com', tokenenv: 'X' }, mixed: { type: 'mcp', command: 'node', headers: {} }, secret: { type: 'mcp', url: 'https://ada:pass-word@example.com' },
        two: { type: 'mcp', url: 'https://example.com', tokenEnv: 'THERE', userToken: 'token' }, lacking: { type: 'mcp', url: 'https://example.com', tokenEnv: 'NOT_THERE' }, passing: { type: 'mcp', command: 'node', passEnv: ['THERE', 'EMPTY', 'GONE'] },
        split: { type: 'mcp', url: 'https://example.com', headers: { 'x-a': 'pass-word\\r\\nx-b: 1' } }, 'a name': { type: 'mcp', command: 'node' }, odd: { type: 'mcp', url: 'https://example.com', userToken: 7, roles: [] }
      } }\n`
    },
    env: { THERE: 'x', EMPTY: '  ' },
    lines: [
      /^parley\.config\.mjs: integrations\.plain: expected an integration/, /integrations\.both: expected either "url" or "command"$/, /integrations\.none: expected either/, /integrations\.other: type: expected 'mcp'$/,
      /integrations\.typo: url: expected an http or https URL$/, /integrations\.typo: unknown attribute "tokenenv"\. Did you mean "tokenEnv"\?$/, /integrations\.mixed: unknown attribute "headers"\./, /integrations\.secret: url: expected no credentials/,
      /integrations\.two: expected either "tokenEnv" or "userToken"/, /integrations\.lacking: needs the environment variable NOT_THERE$/, /integrations\.passing: needs the environment variable EMPTY$/, /integrations\.passing: needs the environment variable GONE$/,
      /integrations\.split: headers: expected names and values that HTTP allows$/, /integrations\.a name: expected a name of letters/, /integrations\.odd: userToken: /, /integrations\.odd: roles: /
    ]
  },
  {
    name: 'integrations of an agent that are not there, and those that are faulty only where they are listed',
    files: { 'parley.config.yaml': 'agents: [{ key: a, integrations: [doc, bad, docs, docs], toolChoice: { tool: docs_search } }, { key: b, integrations: docs }]\nintegrations: { docs: { type: mcp, command: node }, bad: { type: mcp } }\n' },
    lines: [/integrations\.bad: expected either/, 'parley.config.yaml: agent "a": integrations[0]: unknown integration "doc". Did you mean "docs"?', 'parley.config.yaml: agent "a": integrations[3]: "docs" is listed twice', /agent "b": integrations: expected array/]
  },
  {
    name: 'what is told of models that have no provider, twice, or not as it should be',
    files: { 'parley.config.yaml': 'agents: [{ key: a }]\nmodels: { "locl:x": {}, gpt-x: { prices: { input: 1 } }, "openai:gpt-y": {}, gpt-y: {}, "local:z": { window: 8, contextWindow: 0 } }\nproviders: { local: { baseURL: "http://127.0.0.1:1" } }\n' },
    lines: [
      'parley.config.yaml: models.locl:x: there is no model provider "locl". Did you mean "local"?', /^parley\.config\.yaml: models\.gpt-x: prices\.output: expected number/,
      'parley.config.yaml: models.gpt-y: a second entry for the model "openai:gpt-y"', /models\.local:z: contextWindow: /, /models\.local:z: unknown attribute "window"/
    ]
  },
  {
    name: 'fallback models that are not there',
    files: { 'parley.config.yaml': 'agents: [{ key: a, fallbackModels: ["offline", "nowhere:x", "gpt-x"] }]\n' },
    lines: [/agent "a": fallbackModels\[1\]: .*"nowhere"/, /agent "a": fallbackModels\[2\]: .*OPENAI_API_KEY/]
  },
  {
    name: 'a default model of the environment that is not there',
    files: { 'parley.config.yaml': 'agents: [{ key: a }]\n' },
    env: { DEFAULT_MODEL: 'nowhere:x' },
    lines: [/^environment: DEFAULT_MODEL: .*"nowhere"/]
  },
  {
    name: 'a default agent that is not there',
    files: { 'parley.config.yaml': 'agents: [{ key: assistant }]\ndefaultAgent: assistent\n' },
    env: { DEFAULT_AGENT: 'nobody' },
    lines: ['parley.config.yaml: defaultAgent: no agent "assistent". Did you mean "assistant"?', 'environment: DEFAULT_AGENT: no agent "nobody".']
  },
  {
    name: 'a default agent that nobody can chat with',
    files: { 'parley.config.yaml': 'agents: [{ key: a, abstract: true }, { key: b, hidden: true }]\ndefaultAgent: a\n' },
    env: { DEFAULT_AGENT: 'b' },
    lines: [/defaultAgent: agent "a" is abstract/, /DEFAULT_AGENT: agent "b" is hidden/]
  },
  {
    name: 'a default agent that has a mistake of its own is reported for that alone',
    files: { 'parley.config.yaml': 'agents: [{ key: a, maxSteps: 0 }, { key: b }]\ndefaultAgent: a\n' },
    lines: [/agent "a": maxSteps/]
  },
  {
    name: 'an abstract agent is checked too',
    files: { 'parley.config.yaml': 'agents: [{ key: a }, { key: b, abstract: true, tools: [x] }]\n' },
    lines: [/agent "b": tools\[0\]: unknown tool "x"/]
  },
  {
    name: 'files that cannot be read, do not exist, or hold no agent',
    files: { 'parley.config.yaml': 'agents: [bad.ts, "none/*.ts", empty.ts, ./notes.md, list.yaml, gone]\n', 'bad.ts': 'export const a = {\n', 'empty.ts': 'export const a = 1\n', 'notes.md': 'x', 'list.yaml': '- key: a\n  maxSteps: many\n' },
    lines: [
      /^bad\.ts: line 2, column 1: /,
      'parley.config.yaml: agents[1]: "none/*.ts" matches no agent file',
      /^empty\.ts: holds no agent/,
      /^notes\.md: cannot be read as "\.md"/,
      /^list\.yaml: agent "a": maxSteps: expected number, got string/,
      'parley.config.yaml: agents[5]: "gone" matches no agent file'
    ]
  },
  { name: 'a configuration without agents', files: { 'parley.config.yaml': 'agents: []\n' }, lines: [/agents: no agents/] },
  { name: 'a configuration of bases only', files: { 'parley.config.yaml': 'agents: [{ key: a, abstract: true }]\n' }, lines: [/agents: no agents/] },
  { name: 'unknown attributes of the configuration', files: { 'parley.config.yaml': 'agent: [{ key: a }]\n' }, lines: [/^parley\.config\.yaml: agents: expected a list of agents/, 'parley.config.yaml: unknown attribute "agent". Did you mean "agents"?'] },
  { name: 'an unknown attribute of the configuration does not hide what is wrong with its agents', files: { 'parley.config.yaml': 'typo: 1\nagents: [{ key: a b }, gone.yaml]\n' }, lines: [/^parley\.config\.yaml: unknown attribute "typo"/, /agent "a b": key: /, /gone\.yaml/] },
  { name: 'a configuration that exports nothing', files: { 'parley.config.ts': 'export const config = {}\n' }, lines: [/^parley\.config\.ts: has no default export/] },
  { name: 'a configuration that cannot be parsed', files: { 'parley.config.yaml': 'agents: [\n' }, lines: [/^parley\.config\.yaml: line 2, column 1: /] },
  { name: 'a configuration that is not where PARLEY_CONFIG says', files: {}, env: { PARLEY_CONFIG: 'gone.yaml' }, lines: ['gone.yaml: does not exist'] },
  { name: 'a configuration of a kind that nobody reads', files: { 'a.toml': '' }, env: { PARLEY_CONFIG: 'a.toml' }, lines: [/^a\.toml: cannot be read as "\.toml"/] }
]

for (const { name, files, env, lines } of mistakes) {
  t.test(`all mistakes are reported at once with file and entry: ${name}`, async (t) => {
    const found = await faultsOf(t, files, env)
    t.notMatch(found.join(), /pass-word/)
    for (const line of lines) t.ok(found.some((candidate) => typeof line === 'string' ? candidate === line : line.test(candidate)), `${line} in\n${found.join('\n')}`)
    t.equal(found.length, lines.length, found.join('\n'))
  })
}

t.test('the error of a refused start lists its lines', async (t) => {
  await t.rejects(load(t, { 'parley.config.yaml': 'agents: [{ key: a, maxSteps: 0 }, { key: a b }]\n' }), { code: 'configuration_error', message: /^The configuration has 2 mistakes:\n {2}parley\.config\.yaml: agent "a": .*\n {2}parley\.config\.yaml: agent "a b": / })
})

async function load (t: Test, files: Files, env: Files = {}): Promise<LoadedRegistry> {
  const cwd = t.testdir({})
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(cwd, name, '..'), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  return loadRegistry({ config: loadConfig(env), cwd, env })
}

async function faultsOf (t: Test, files: Files, env: Files = {}): Promise<readonly string[]> {
  try {
    await load(t, files, env)
  } catch (error) {
    if (error instanceof ConfigurationFaults) return error.faults.map(faultLine)
    throw error
  }
  return []
}
