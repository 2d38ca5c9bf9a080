import t from 'tap'
import { z } from 'zod'
import type { JsonSchema, ModelEvent, ModelMessage, ModelRequest, ModelTool } from '../../../src/models/model.ts'
import { createOfflineModel } from '../../../src/models/offline.ts'
import { compileSchema, toJsonSchema } from '../../../src/tools/schema.ts'
import { callsOf, eventsOf, finishOf, hear, textOf } from '../../helpers/chat-events.ts'

const model = createOfflineModel({ wordDelayMs: 0 })
const tool = (name: string, properties: Record<string, unknown> = {}, required = Object.keys(properties)): ModelTool =>
  ({ name, description: '', parameters: { type: 'object', properties, required, additionalProperties: false } })

t.test('the offline model says what it is and answers from the words it got', async (t) => {
  const events = await answer({ messages: [user('Where do swallows go in winter?')] })
  t.match(textOf(events), /offline model/)
  t.match(textOf(events), /"Where do swallows go in winter\?"/)
  t.equal(finishOf(events), 'stop')
  t.match(eventsOf(events, 'usage'), [{ estimated: true, usage: { input: Number, output: Number } }])
})

t.test('it streams word by word', async (t) => {
  const events = await answer({ messages: [user('Hello there')] })
  const deltas = eventsOf(events, 'text-delta').map(({ delta }) => delta)
  t.ok(deltas.length > 5)
  t.ok(deltas.every((delta) => /^\s*\S+\s*$/.test(delta)))
})

t.test('a later turn refers to the first', async (t) => {
  const messages = [user('My name is Ada.'), said('Hello'), user('I like ships and harbours.'), said('Good')]
  t.match(textOf(await answer({ messages: [...messages, user('And now?')] })), /Earlier you said: "My name is Ada\."/)
  for (const [question, words] of [
    ['What is my name?', /Your name is Ada\./],
    ['What did I say first?', /You said: "My name is Ada\."/],
    ['What did I say before?', /You said: "I like ships/],
    ['What is my age?', /You have not told me your age/]
  ] as const) t.match(textOf(await answer({ messages: [...messages, user(question)] })), words, question)
  t.match(textOf(await answer({ messages: [user("Hi, I'm Grace"), said('Hi'), user("what's my name?")] })), /Your name is Grace/)
})

t.test('it calls the tool that the words name, with arguments taken from them', async (t) => {
  const dice = tool('roll_dice', { sides: { type: 'integer', minimum: 2 } })
  for (const [tools, text, call] of [
    [[dice], 'Please roll the dice with 20 sides', ['roll_dice', { sides: 20 }]],
    [[dice], 'use roll_dice', ['roll_dice', { sides: 2 }]],
    [[tool('get_weather', { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } })], 'weather in fahrenheit, city: Paris', ['get_weather', { city: 'Paris', unit: 'fahrenheit' }]],
    [[tool('echo', { text: { type: 'string' } })], 'echo "hello world" twice', ['echo', { text: 'hello world' }]],
    [[tool('search', { query: { type: 'string' } })], 'search the harbour of Genoa', ['search', { query: 'the harbour of Genoa' }]],
    [[tool('set_light', { on: { type: 'boolean' } })], 'set light off', ['set_light', { on: false }]],
    [[tool('now')], 'what is it now?', ['now', {}]]
  ] as Array<[ModelTool[], string, [string, object]]>) {
    const events = await answer({ messages: [user(text)], tools })
    t.strictSame(callsOf(events).map((made) => [made.name, JSON.parse(made.arguments), made.complete]), [[...call, true]], text)
    t.equal(finishOf(events), 'tool-calls')
    t.ok(tools.every((one) => one.name !== call[0] || compileSchema(one.parameters)(call[1]).ok))
  }
  t.strictSame(callsOf(await answer({ messages: [user('Nothing to throw here')], tools: [dice] })), [])
})

t.test('it answers from what a tool gave and does not call it again in the same turn', async (t) => {
  const tools = [tool('roll_dice'), tool('echo')]
  const turn: ModelMessage[] = [user('roll dice, then echo'), { role: 'assistant', text: '', toolCalls: [{ callId: 'a', toolName: 'roll_dice', arguments: '{}' }] }, { role: 'tool', callId: 'a', toolName: 'roll_dice', content: 'a four' }]
  t.match(callsOf(await answer({ messages: turn, tools })), [{ name: 'echo' }])
  t.match(textOf(await answer({ messages: turn, tools: tools.slice(0, 1) })), /roll_dice answered: a four/)
  t.match(callsOf(await answer({ messages: [...turn, said('four'), user('roll dice again')], tools })), [{ name: 'roll_dice' }])
})

t.test('a tool choice is obeyed', async (t) => {
  const tools = [tool('roll_dice'), tool('echo')]
  const messages = [user('roll dice')]
  t.strictSame(callsOf(await answer({ messages, tools, toolChoice: 'none' })), [])
  t.match(callsOf(await answer({ messages, tools, toolChoice: { tool: 'echo' } })), [{ name: 'echo' }])
  t.match(callsOf(await answer({ messages: [user('nothing')], tools, toolChoice: 'required' })), [{ name: 'roll_dice' }])
})

const schemas: Record<string, z.ZodType | JsonSchema> = {
  person: z.object({ name: z.string().min(3), age: z.number().int().min(18).max(120), mail: z.email(), site: z.url().optional(), tags: z.array(z.string()).min(2) }),
  choice: z.object({ kind: z.enum(['a', 'b']), exact: z.literal('x'), maybe: z.string().nullable(), flag: z.boolean() }),
  union: z.object({ shape: z.discriminatedUnion('type', [z.object({ type: z.literal('circle'), radius: z.number().positive() }), z.object({ type: z.literal('square'), side: z.number().multipleOf(5) })]) }),
  formats: z.object({ at: z.iso.datetime(), day: z.iso.date(), id: z.uuid(), ip: z.ipv4(), length: z.string().length(7) }),
  collections: z.object({ pair: z.tuple([z.string(), z.number()]), map: z.record(z.string(), z.number()), set: z.array(z.enum(['p', 'q', 'r'])).length(2) }),
  references: { type: 'object', properties: { root: { $ref: '#/$defs/node' } }, required: ['root'], $defs: { node: { type: 'object', properties: { value: { type: 'integer', exclusiveMinimum: 4 }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, required: ['value', 'children'] } } },
  combined: { allOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: { type: ['null', 'string'], maxLength: 2 } }, required: ['b'] }] },
  exclusive: { oneOf: [{ type: 'number', multipleOf: 5 }, { type: 'number', multipleOf: 3 }] },
  unique: { type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true },
  pattern: { type: 'object', properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' } }, required: ['code'] },
  untyped: { properties: { a: {}, b: true }, required: ['a', 'b', 'c'] },
  text: { type: 'string', maxLength: 5 }
}

for (const [name, schema] of Object.entries(schemas)) {
  t.test(`an answer with a schema is valid: ${name}`, async (t) => {
    const json = toJsonSchema(schema)
    for (const text of ['Ada is 36 and writes to ada@example.org about "looms"', '', 'no 15 -3 0.5']) {
      const value: unknown = JSON.parse(textOf(await answer({ messages: [user(text)], responseSchema: json })))
      t.strictSame(compileSchema(json)(value), { ok: true, value })
    }
  })
}

t.test('a schema is filled from the words', async (t) => {
  const schema = toJsonSchema(z.object({ count: z.number(), quote: z.string(), colour: z.enum(['red', 'blue']) }))
  t.strictSame(JSON.parse(textOf(await answer({ messages: [user('I saw 7 blue boats named "Nina"')], responseSchema: schema }))), { count: 7, quote: 'Nina', colour: 'blue' })
})

t.test('a title is a few of the telling words', async (t) => {
  const instructions = 'Write a short title for this conversation.'
  const title = textOf(await answer({ instructions, messages: [user('could you please tell me how the harbour of Genoa was built in the middle ages')] }))
  t.equal(title, 'Harbour Genoa built middle ages')
  t.equal(textOf(await answer({ instructions, messages: [user('Hello you')] })), 'Hello you')
  t.equal(textOf(await answer({ instructions, messages: [user('?!')] })), 'New conversation')
})

t.test('an abort ends the answer between two words', async (t) => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  const slow = createOfflineModel({ wordDelayMs: 60_000 })
  setTimeout(() => { controller.abort(reason) }, 20)
  const { events, error } = await hear(slow.generate(request({ messages: [user('Hello')] }), { signal: controller.signal }))
  t.equal(error, reason)
  t.equal(events.length, 1)
})

async function answer (given: Partial<ModelRequest>): Promise<ModelEvent[]> {
  const { events, error } = await hear(model.generate(request(given), { signal: new AbortController().signal }))
  if (error !== undefined) throw error
  return events
}

function request (given: Partial<ModelRequest>): ModelRequest {
  return { instructions: 'You help.', messages: [], tools: [], toolChoice: 'auto', settings: {}, ...given }
}

function user (content: string): ModelMessage {
  return { role: 'user', content }
}

function said (text: string): ModelMessage {
  return { role: 'assistant', text, toolCalls: [] }
}
