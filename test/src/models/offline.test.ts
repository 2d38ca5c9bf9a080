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

t.test('all tools that the words name are called at once, each with the words behind its name; those behind a "then" come later', async (t) => {
  const tools = [tool('price_clerk', { task: { type: 'string' } }), tool('stock_clerk', { task: { type: 'string' } }), tool('stock'), tool('total', { count: { type: 'integer' } })]
  const made = async (text: string, turn: readonly ModelMessage[] = []) => callsOf(await answer({ messages: [user(text), ...turn], tools })).map((call) => [call.name, JSON.parse(call.arguments)])
  t.strictSame(await made('Ask the stock clerk about lamps and the price clerk about 3 lamps'), [['stock_clerk', { task: 'lamps' }], ['price_clerk', { task: '3 lamps' }]])
  const text = 'Tell the price clerk: a lamp, please ask the stock clerk: 2 lamps. Then use total of 5'
  t.strictSame(await made(text), [['price_clerk', { task: 'a lamp' }], ['stock_clerk', { task: '2 lamps' }]])
  t.strictSame(await made(text, [...calledBefore('price_clerk'), ...calledBefore('stock_clerk')]), [['total', { count: 5 }]])
  t.strictSame(await made(text, [...calledBefore('price_clerk'), ...calledBefore('stock_clerk'), ...calledBefore('total')]), [])
})

t.test('a tool that is to be used for each of the things that the words list is called for each of them', async (t) => {
  const tools = [tool('researcher', { task: { type: 'string' } })]
  const tasks = async (text: string) => callsOf(await answer({ messages: [user(text)], tools })).map((call) => JSON.parse(call.arguments).task)
  t.strictSame(await tasks('Ask the researcher about each of these: the tides, the lighthouse and the fog.'), ['the tides', 'the lighthouse', 'the fog'])
  t.strictSame(await tasks('Ask the researcher about each:\n1. Who built it?\n2. Salt and bread'), ['Who built it?', 'Salt and bread'])
  t.strictSame(await tasks('Ask the researcher about these: the tides, the fog'), ['these: the tides, the fog'])
  t.strictSame(await tasks('Ask the researcher about each tide'), ['each tide'])
  t.strictSame(await tasks('Ask the researcher about each: tides, fog. Be brief, and quick.'), ['tides', 'fog'])
  t.equal((await tasks(`Ask the researcher about each: ${'a, '.repeat(40)}b`)).length, 8)
})

t.test('a tool choice is obeyed', async (t) => {
  const tools = [tool('roll_dice'), tool('echo')]
  const messages = [user('roll dice')]
  t.strictSame(callsOf(await answer({ messages, tools, toolChoice: 'none' })), [])
  t.match(callsOf(await answer({ messages, tools, toolChoice: { tool: 'echo' } })), [{ name: 'echo' }])
  t.match(callsOf(await answer({ messages: [user('nothing')], tools, toolChoice: 'required' })), [{ name: 'roll_dice' }])
  const plan = tool('make_plan', { questions: { type: 'array', items: { type: 'string' }, maxItems: 3 } })
  const [call, ...others] = callsOf(await answer({ messages: [user('Ask about each: tides, fog')], tools: [plan], toolChoice: { tool: 'make_plan' } }))
  t.strictSame([JSON.parse(call?.arguments ?? ''), others], [{ questions: ['tides', 'fog'] }, []])
})

t.test('files are told from the words they came with', async (t) => {
  const table = '[Attached file "stock.csv" (text/csv, 30 bytes, id 0-1, 2 rows): its text follows.]\nitem,count\nroll dice,3\n[End of "stock.csv"]'
  const picture = '[Attached file "a (1).png" (image/png, 9 bytes, id 0-2, 4 x 4 pixels)]'
  const long = '[Attached file "b.txt" (text/plain, 9 bytes, id 0-3): its text follows.]\nline [1]\n[Cut: these are the first 8 of 9 characters of "b.txt".]'
  const request = { messages: [user(`${table}\n\n${picture}\n\n${long}\n\nWhat is in here?`)], tools: [tool('roll_dice')] }
  const text = textOf(await answer(request))
  t.match(text, 'You attached "stock.csv" (text/csv, 30 bytes, 2 rows), which begins: "item,count roll dice,3".')
  t.match(text, 'You attached "a (1).png" (image/png, 9 bytes, 4 x 4 pixels).')
  t.match(text, 'You attached "b.txt" (text/plain, 9 bytes), which begins: "line [1]".')
  t.match(text, /offline model.*You said: "What is in here\?"/)
  t.strictSame(callsOf(await answer(request)), [], 'no tool is called for the words of a file')
  t.match(textOf(await answer({ messages: [user(picture)] })), /You attached "a \(1\)\.png".*offline model/s)
  t.notMatch(textOf(await answer({ messages: [user(table), said('Fine'), user('And now?')] })), 'You attached', 'only what came with the newest message')
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
    for (const text of ['Ada is 36 and writes to ada@example.org about "looms"', '', 'no 15 -3 0.5', 'these: p, q, r, and p']) {
      const value: unknown = JSON.parse(textOf(await answer({ messages: [user(text)], responseSchema: json })))
      t.strictSame(compileSchema(json)(value), { ok: true, value })
    }
  })
}

t.test('a schema is filled from the words', async (t) => {
  const schema = toJsonSchema(z.object({ count: z.number(), quote: z.string(), colour: z.enum(['red', 'blue']) }))
  t.strictSame(JSON.parse(textOf(await answer({ messages: [user('I saw 7 blue boats named "Nina"')], responseSchema: schema }))), { count: 7, quote: 'Nina', colour: 'blue' })
  const lists = toJsonSchema(z.object({ names: z.array(z.string()), ages: z.array(z.number()).max(2) }))
  t.strictSame(JSON.parse(textOf(await answer({ messages: [user('Of 36, 40 and 41 years: Ada, Grace and Lin')], responseSchema: lists }))), { names: ['Ada', 'Grace', 'Lin'], ages: [36, 40] })
  t.strictSame(JSON.parse(textOf(await answer({ messages: [user('Ada')], responseSchema: lists }))), { names: ['Ada'], ages: [1] })
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

function calledBefore (toolName: string): ModelMessage[] {
  return [{ role: 'assistant', text: '', toolCalls: [{ callId: toolName, toolName, arguments: '{}' }] }, { role: 'tool', callId: toolName, toolName, content: 'done' }]
}

function said (text: string): ModelMessage {
  return { role: 'assistant', text, toolCalls: [] }
}
