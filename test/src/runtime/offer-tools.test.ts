import t from 'tap'
import { z } from 'zod'
import { defineArtifact } from '../../../src/artifacts/artifact.ts'
import type { Memory } from '../../../src/memories/memory.ts'
import { createTurnMemory } from '../../../src/memories/turn-memory.ts'
import { defineTool, type Tool } from '../../../src/tools/tool.ts'
import { thread } from '../../contracts/memory.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const named = (name: string) => defineTool({ name, execute: () => name })
const memoryWith = (...names: string[]) => {
  const memory: Memory = { prepare: () => names.map(named), recall: () => [], remember () {} }
  return createTurnMemory({ memory, thread, answerId: 'answer-1', path: [], stored: [] })
}

t.test('a model is offered an agent\'s own tools, those of providers, artifacts, the crew, and what its memory adds, in this order', async (t) => {
  const model = scriptedModel([['Hi.']])
  const note = defineArtifact({ name: 'note', data: z.object({ text: z.string() }) })
  await run(t, { model, crew: [{ key: 'helper' }], agent: { key: 'root', tools: [named('own'), () => [named('docs_search')]], artifacts: [note], agents: ['helper'] }, input: { memory: memoryWith('own', 'recollect') } })
  t.strictSame(model.requests[0]?.tools.map(({ name }) => name), ['own', 'docs_search', 'artifact_note', 'helper', 'recollect'])
})

t.test('tools for files come behind the crew, and a memory may put its own in their place', async (t) => {
  const model = scriptedModel([['Hi.']])
  const file = { id: 'f1', name: 'a.txt', mediaType: 'text/plain', size: 1, status: 'completed', text: 'A' }
  const seen: unknown[] = []
  const agent = { key: 'root', tools: [named('own')], agents: ['helper'], attachmentTools: (files: unknown, _context: unknown, tools: readonly Tool[]) => { seen.push(files, tools); return [named('read_file'), named('count')] } }
  const { of } = await run(t, { model, crew: [{ key: 'helper' }], agent, input: { files: [file], memory: memoryWith('count', 'recollect') } })
  t.strictSame(model.requests[0]?.tools.map(({ name }) => name), ['own', 'helper', 'read_file', 'count', 'recollect'])
  t.strictSame(seen, [[file], []], 'asked once')
  t.strictSame(of('data'), [])
})

t.test('tools that a memory brings take part in the choice of a tool', async (t) => {
  const model = scriptedModel([toolCall('c1', 'recollect'), ['Done.']])
  const { of } = await run(t, { model, agent: { toolChoice: { tool: 'recollect' }, requiredTools: ['recollect'] }, input: { memory: memoryWith('recollect') } })
  t.match(model.requests.map(({ toolChoice }) => toolChoice), [{ tool: 'recollect' }, 'auto'])
  t.match(of('tool-output'), [{ output: 'recollect' }])
})

t.test('a tool may be called like what every object has', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const model = scriptedModel([names.flatMap((name, index) => toolCall(`c${index}`, name)), toolCall('none', 'valueOf'), ['Done.']])
  const { of } = await run(t, { model, agent: { tools: names.map(named) } })
  t.strictSame(model.requests[0]?.tools.map(({ name }) => name), names)
  t.strictSame(of('tool-output').map(({ output }) => output).sort(), names.toSorted())
  t.match(of('tool-input-invalid'), [{ callId: 'none', message: /^No such tool "valueOf"/ }], 'and what is no tool is none')
})
