import { continued, ended, started } from '../../../helpers/run-events.ts'
import type { RunEventBody } from '../../../../src/events/run-event.ts'
import type { MessagePart } from '../../../../src/messages/parts.ts'
import type { AgUiOptions } from '../../../../src/protocols/ag-ui/frames.ts'

export interface Transcript {
  readonly name: string
  readonly events: readonly RunEventBody[]
  readonly options?: AgUiOptions
  /** JSON of each `data:` line. */
  readonly wire: readonly string[]
  /** As both clients read the end; undefined where it is an error. */
  readonly outcome: 'success' | 'interrupt' | undefined
}

const begin = '{"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1"}'
const step = (n: number) => `{"type":"STEP_STARTED","stepName":"step-${n}"}`
const stepped = (n: number) => `{"type":"STEP_FINISHED","stepName":"step-${n}"}`
const say = (id: string, ...deltas: string[]) => [
  `{"type":"TEXT_MESSAGE_START","messageId":"${id}","role":"assistant"}`, ...deltas.map((delta) => `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${id}","delta":"${delta}"}`), `{"type":"TEXT_MESSAGE_END","messageId":"${id}"}`
]
const think = (id: string, delta: string) => [
  `{"type":"REASONING_START","messageId":"${id}"}`, `{"type":"REASONING_MESSAGE_START","messageId":"${id}","role":"reasoning"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"${id}","delta":"${delta}"}`,
  `{"type":"REASONING_MESSAGE_END","messageId":"${id}"}`, `{"type":"REASONING_END","messageId":"${id}"}`
]
const noUsage = '{"input":0,"output":0,"reasoning":0,"cachedRead":0,"cacheWrite":0}'
const someUsage = '{"input":7,"output":3,"reasoning":0,"cachedRead":0,"cacheWrite":0}'
const spent = '"usage":[{"model":"test:model","inputTokens":7,"outputTokens":3,"totalTokens":10,"reasoningTokens":0,"cachedInputTokens":0}]'
const notes = (status: string, finishReason: string, usage: string, more = '') =>
  `"metadata":{"parley":{"createdAt":"2026-01-02T03:04:05.000Z","status":"${status}","finishReason":"${finishReason}","usage":${usage},"model":"test:model","threadId":"thread-1","runId":"run-1"${more}}}`
const finish = (status: string, finishReason: string, outcome = '') =>
  `{"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",${outcome}${spent},${notes(status, finishReason, someUsage)}}`
const stopped = (outcome = '') => `{"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",${outcome}${notes('stopped', 'other', noUsage)}}`
const done = finish('completed', 'stop')

const failed: RunEventBody = { type: 'run-failed', code: 'provider_unavailable', message: 'The model did not answer.', retryable: true, ref: '0a1b2c3d' }
const failure = (status: string, usage: string, more = '') =>
  `{"type":"RUN_ERROR","message":"The model did not answer.","code":"provider_unavailable",${more}${notes(status, 'error', usage, ',"retryable":true,"ref":"0a1b2c3d"')}}`

function text (blockId: string, ...deltas: string[]): RunEventBody[] {
  return [{ type: 'text-start', blockId }, ...deltas.map((delta): RunEventBody => ({ type: 'text-delta', blockId, delta })), { type: 'text-end', blockId }]
}

const completed: RunEventBody[] = [ended(), { type: 'run-completed' }]
const member = [{ agentId: 'a2', name: 'helper', toolCallId: 'c1' }]
const memberNotes = '"agent":"helper","agentPath":[{"agentId":"a2","name":"helper","toolCallId":"c1"}],"parentToolCallId":"c1"'
const waits: readonly RunEventBody[] = [
  started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'locate' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'locate', input: {} },
  { type: 'step-end', step: 1 }, ended('tool-calls'), { type: 'run-suspended', approvals: [], pendingCalls: ['c1'] }
]
const waiting = [begin, step(1), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"locate","parentMessageId":"msg-1"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{}"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}', stepped(1)]
const answeredParts: readonly MessagePart[] = [{ type: 'step-start' }, { type: 'text', text: 'Where?', state: 'done' }, { type: 'tool-locate', toolCallId: 'c1', state: 'output-available', input: {}, output: 'here' }]

export const transcripts: readonly Transcript[] = [
  {
    name: 'a plain answer',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'Hel', '', 'lo "you"\n\u2028'), { type: 'step-end', step: 1 }, ...completed],
    wire: [begin, step(1), ...say('msg-1', 'Hel', 'lo \\"you\\"\\n\u2028'), stepped(1), done],
    outcome: 'success'
  },
  {
    name: 'an answer after a tool, each step with a message of its own',
    events: [
      started, { type: 'step-start', step: 1 }, ...text('b1', 'Wait'),
      { type: 'tool-call-start', callId: 'c1', toolName: 'roll', title: 'Roll dice' }, { type: 'tool-input-delta', callId: 'c1', delta: '{"n":' }, { type: 'tool-input-delta', callId: 'c1', delta: '2}' },
      { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: { n: 2 } },
      { type: 'tool-output', callId: 'c1', output: { sum: 7 } },
      { type: 'step-end', step: 1 }, { type: 'step-start', step: 2 }, ...text('b2', 'Seven'), { type: 'step-end', step: 2 }, ...completed
    ],
    wire: [
      begin, step(1), ...say('msg-1', 'Wait'), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"roll","parentMessageId":"msg-1","metadata":{"parley":{"title":"Roll dice"}}}',
      '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\\"n\\":"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"2}"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c1","toolCallId":"c1","content":"{\\"sum\\":7}","role":"tool"}',
      stepped(1), step(2), ...say('msg-1:2', 'Seven'), stepped(2), done
    ],
    outcome: 'success'
  },
  {
    name: 'two tools at once, one failing, one of them dynamic with a preliminary result, and words after them',
    events: [
      started, { type: 'step-start', step: 1 },
      { type: 'tool-call-start', callId: 'c1', toolName: 'roll' }, { type: 'tool-call-start', callId: 'c2', toolName: 'remote', dynamic: true },
      { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: undefined }, { type: 'tool-input-complete', callId: 'c2', toolName: 'remote', input: {} },
      ...text('b1', 'Both'),
      { type: 'tool-output', callId: 'c2', output: 'half', preliminary: true }, { type: 'tool-error', callId: 'c1', code: 'tool_failed', message: 'The tool "roll" failed.' }, { type: 'tool-output', callId: 'c2', output: undefined },
      { type: 'step-end', step: 1 }, ...completed
    ],
    wire: [
      begin, step(1), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"roll","parentMessageId":"msg-1"}', '{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"remote","parentMessageId":"msg-1","metadata":{"parley":{"dynamic":true}}}',
      '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"null"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"{}"}', '{"type":"TOOL_CALL_END","toolCallId":"c2"}',
      ...say('msg-1:2', 'Both'), '{"type":"CUSTOM","name":"preliminary-output","value":{"toolCallId":"c2","output":"half"}}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c1","toolCallId":"c1","content":"The tool \\"roll\\" failed.","role":"tool","metadata":{"parley":{"state":"output-error","code":"tool_failed"}}}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c2","toolCallId":"c2","content":"null","role":"tool"}', stepped(1), done
    ],
    outcome: 'success'
  },
  {
    name: 'reasoning before the answer',
    events: [started, { type: 'step-start', step: 1 }, { type: 'reasoning-start', blockId: 'r1' }, { type: 'reasoning-delta', blockId: 'r1', delta: 'Hm' }, { type: 'reasoning-end', blockId: 'r1', providerMetadata: { openai: { itemId: 'i' } } }, ...text('b1', 'Yes'), { type: 'step-end', step: 1 }, ...completed],
    wire: [begin, step(1), ...think('msg-1:reasoning:1', 'Hm'), ...say('msg-1', 'Yes'), stepped(1), done],
    outcome: 'success'
  },
  {
    name: 'calls that cannot be read, one streamed and one whole',
    events: [
      started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'roll' }, { type: 'tool-input-delta', callId: 'c1', delta: '{"n":tw' },
      { type: 'tool-input-invalid', callId: 'c1', toolName: 'roll', input: '{"n":tw', message: 'Not JSON.' },
      { type: 'tool-call-start', callId: 'c2', toolName: 'roll' }, { type: 'tool-input-invalid', callId: 'c2', toolName: 'roll', input: '{"n":', message: 'Cut off.' }, { type: 'step-end', step: 1 }, ...completed
    ],
    wire: [
      begin, step(1), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"roll","parentMessageId":"msg-1"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\\"n\\":tw"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c1","toolCallId":"c1","content":"Not JSON.","role":"tool","metadata":{"parley":{"state":"output-error"}}}',
      '{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"roll","parentMessageId":"msg-1"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"{\\"n\\":"}', '{"type":"TOOL_CALL_END","toolCallId":"c2"}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c2","toolCallId":"c2","content":"Cut off.","role":"tool","metadata":{"parley":{"state":"output-error"}}}', stepped(1), done
    ],
    outcome: 'success'
  },
  {
    name: 'a stop in the middle of text',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'So f'), { type: 'run-stopped', reason: 'user' }],
    wire: [begin, step(1), ...say('msg-1', 'So f'), stepped(1), stopped()],
    outcome: 'success'
  },
  {
    name: 'a stop before the first token',
    events: [started, { type: 'run-stopped', reason: 'user' }],
    wire: [begin, stopped()],
    outcome: 'success'
  },
  {
    name: 'a failure before the first token',
    events: [started, failed],
    wire: [begin, failure('failed', noUsage)],
    outcome: undefined
  },
  {
    name: 'an interruption in the middle of a step',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'So f'), { type: 'usage', model: 'test:model', buckets: { input: 7, output: 3, reasoning: 0, cachedRead: 0, cacheWrite: 0 } }, { ...failed, type: 'run-interrupted' }],
    wire: [begin, step(1), ...say('msg-1', 'So f'), stepped(1), failure('interrupted', someUsage, `${spent},`)],
    outcome: undefined
  },
  {
    name: 'a client tool that is called',
    events: waits,
    wire: [...waiting, finish('suspended', 'tool-calls')],
    outcome: 'success'
  },
  {
    name: 'a continuation for the client that answered',
    options: { initialParts: answeredParts },
    events: [continued, { type: 'tool-output', callId: 'c1', output: 'here' }, { type: 'step-start', step: 1 }, ...text('b1', 'There'), { type: 'step-end', step: 1 }, ...completed],
    wire: [begin, step(1), ...say('msg-1:2', 'There'), stepped(1), done],
    outcome: 'success'
  },
  {
    name: 'a continuation from its beginning, for one who has nothing, told each result once',
    events: [continued, { type: 'snapshot', parts: [...answeredParts] }, { type: 'tool-output', callId: 'c1', output: 'here' }, { type: 'step-start', step: 1 }, ...text('b1', 'There'), { type: 'step-end', step: 1 }, ...completed],
    wire: [
      begin, step(1), ...say('msg-1', 'Where?'), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"locate","parentMessageId":"msg-1"}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{}"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c1","toolCallId":"c1","content":"here","role":"tool"}', stepped(1), step(1), ...say('msg-1:2', 'There'), stepped(1), done
    ],
    outcome: 'success'
  },
  {
    name: 'a snapshot that caught a text block open',
    events: [
      started, { type: 'snapshot', parts: [{ type: 'step-start' }, { type: 'reasoning', id: 'r1', text: 'Hm', state: 'done' }, { type: 'text', text: 'So ', state: 'streaming' }] },
      { type: 'text-delta', blockId: 'b9', delta: 'far' }, { type: 'text-end', blockId: 'b9' }, { type: 'step-end', step: 1 }, ...completed
    ],
    wire: [begin, step(1), ...think('msg-1:reasoning:1', 'Hm'), ...say('msg-1', 'So ', 'far'), stepped(1), done],
    outcome: 'success'
  },
  {
    name: 'approvals, one given up and one that the run waits for',
    events: [
      started, { type: 'step-start', step: 1 },
      { type: 'tool-call-start', callId: 'c1', toolName: 'wipe' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'wipe', input: {} },
      { type: 'tool-call-start', callId: 'c2', toolName: 'wipe' }, { type: 'tool-input-complete', callId: 'c2', toolName: 'wipe', input: {} },
      { type: 'approval-requested', approvalId: 'ap1', callId: 'c1', expiresAt: '2126-01-03T00:00:00.000Z' }, { type: 'approval-requested', approvalId: 'ap2', callId: 'c2', expiresAt: '2126-01-03T00:00:00.000Z' },
      { type: 'tool-denied', callId: 'c2', reason: 'no' },
      { type: 'step-end', step: 1 }, ended('tool-calls'), { type: 'run-suspended', approvals: ['ap1'], pendingCalls: [] }
    ],
    wire: [
      begin, step(1), ...['c1', 'c2'].flatMap((id) => [`{"type":"TOOL_CALL_START","toolCallId":"${id}","toolCallName":"wipe","parentMessageId":"msg-1"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"${id}","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"${id}"}`]),
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c2","toolCallId":"c2","content":"Denied: no","role":"tool","metadata":{"parley":{"state":"output-denied"}}}', stepped(1),
      finish('suspended', 'tool-calls', '"outcome":{"type":"interrupt","interrupts":[{"id":"ap1","reason":"tool_call","message":"\\"wipe\\" waits for approval.","toolCallId":"c1","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},"reason":{"type":"string"}},"required":["approved"]},"expiresAt":"2126-01-03T00:00:00.000Z"}]},')
    ],
    outcome: 'interrupt'
  },
  {
    name: 'sources, files, data, suggestions, a title and progress',
    events: [
      started, { type: 'step-start', step: 1 }, ...text('b1', 'See [1]'),
      { type: 'source', index: 1, sourceId: 's1', title: 'Page', url: 'https://example.org/' }, { type: 'file', fileId: 'f2', mediaType: 'text/csv' },
      { type: 'data', name: 'chart', id: 'd1', data: { n: 1 } }, { type: 'data', name: 'ping', data: undefined, transient: true },
      { type: 'suggestions', suggestions: ['More?'] }, { type: 'title', title: 'A chat' }, { type: 'progress', message: 'Half', fraction: 0.5, callId: 'c1' },
      { type: 'step-end', step: 1 }, ...completed
    ],
    wire: [
      begin, step(1), ...say('msg-1', 'See [1]'),
      '{"type":"CUSTOM","name":"source","value":{"type":"source-url","sourceId":"s1","url":"https://example.org/","title":"Page","providerMetadata":{"parley":{"index":1}}}}',
      '{"type":"CUSTOM","name":"file","value":{"type":"file","url":"/v1/threads/thread-1/files/f2/content","mediaType":"text/csv"}}',
      '{"type":"CUSTOM","name":"chart","value":{"n":1},"metadata":{"parley":{"id":"d1"}}}', '{"type":"CUSTOM","name":"ping","value":null,"metadata":{"parley":{"transient":true}}}',
      '{"type":"CUSTOM","name":"suggestions","value":{"suggestions":["More?"]}}', '{"type":"CUSTOM","name":"title","value":{"title":"A chat"}}', '{"type":"CUSTOM","name":"progress","value":{"agentPath":[],"toolCallId":"c1","message":"Half","fraction":0.5}}',
      stepped(1), done
    ],
    outcome: 'success'
  },
  {
    name: 'a member at work, with its calls beside those of its coordinator',
    events: [
      started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'helper', handoff: 'helper' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'helper', input: { task: 'x' } },
      { type: 'subagent-start', frameId: 'fr1', name: 'helper', status: 'running', text: '', reasoning: '', agentPath: member }, { type: 'step-start', step: 1, agentPath: member },
      ...text('m1', 'Do', 'ne').map((event) => ({ ...event, agentPath: member })),
      { type: 'tool-call-start', callId: 'c2', toolName: 'search', agentPath: member }, { type: 'tool-input-complete', callId: 'c2', toolName: 'search', input: {}, agentPath: member, attribution: { unit: 'north' } }, { type: 'tool-output', callId: 'c2', output: 1, agentPath: member },
      { type: 'step-end', step: 1, agentPath: member }, { type: 'subagent-update', frameId: 'fr1', name: 'helper', status: 'running', text: 'Done', reasoning: '', agentPath: member },
      { type: 'subagent-end', frameId: 'fr1', name: 'helper', status: 'completed', text: 'Done', reasoning: '', agentPath: member }, { type: 'tool-output', callId: 'c1', output: 'Done' }, { type: 'step-end', step: 1 }, ...completed
    ],
    wire: [
      begin, step(1), '{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"helper","parentMessageId":"msg-1","metadata":{"parley":{"handoff":"helper"}}}', '{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\\"task\\":\\"x\\"}"}', '{"type":"TOOL_CALL_END","toolCallId":"c1"}',
      '{"type":"SUBAGENT_STARTED","subagentRunId":"fr1","name":"helper","parentToolCallId":"c1"}', frameOf('running', ''),
      `{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"search","parentMessageId":"msg-1","metadata":{"parley":{${memberNotes}}}}`, '{"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"{}"}', `{"type":"TOOL_CALL_END","toolCallId":"c2","metadata":{"parley":{${memberNotes},"unit":"north"}}}`,
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c2","toolCallId":"c2","content":"1","role":"tool"}', frameOf('running', 'Done'), frameOf('completed', 'Done'), '{"type":"SUBAGENT_FINISHED","subagentRunId":"fr1"}',
      '{"type":"TOOL_CALL_RESULT","messageId":"msg-1:result:c1","toolCallId":"c1","content":"Done","role":"tool"}', stepped(1), done
    ],
    outcome: 'success'
  },
  {
    name: 'members inside members: one failed, one waits, one is left open by a stop',
    events: [
      started, { type: 'step-start', step: 1 },
      ...([['fr1', member], ['fr2', [...member, { agentId: 'a3', name: 'inner', toolCallId: 'c5' }]], ['fr3', []]] as const).map(([frameId, agentPath]): RunEventBody => ({ type: 'subagent-start', frameId, name: 'm', status: 'running', text: '', reasoning: '', agentPath: [...agentPath] })),
      { type: 'subagent-start', frameId: 'fr1', name: 'm', status: 'running', text: '', reasoning: '', agentPath: member },
      { type: 'subagent-end', frameId: 'fr2', name: 'm', status: 'failed', text: '', reasoning: '' }, { type: 'subagent-end', frameId: 'fr1', name: 'm', status: 'suspended', text: '', reasoning: '' },
      { type: 'subagent-end', frameId: 'fr9', name: 'm', status: 'completed', text: '', reasoning: '' }, { type: 'run-stopped', reason: 'user' }
    ],
    wire: [
      begin, step(1), '{"type":"SUBAGENT_STARTED","subagentRunId":"fr1","name":"m","parentToolCallId":"c1"}', frameOf('running', '', 'fr1'),
      '{"type":"SUBAGENT_STARTED","subagentRunId":"fr2","name":"m","parentSubagentRunId":"fr1","parentToolCallId":"c5"}', frameOf('running', '', 'fr2', '{"agentId":"a2","name":"helper","toolCallId":"c1"},{"agentId":"a3","name":"inner","toolCallId":"c5"}'),
      '{"type":"SUBAGENT_STARTED","subagentRunId":"fr3","name":"m"}', frameOf('running', '', 'fr3', ''), frameOf('running', '', 'fr1'),
      frameOf('failed', '', 'fr2', ''), '{"type":"SUBAGENT_ERROR","subagentRunId":"fr2","message":"m failed.","code":"failed"}',
      frameOf('suspended', '', 'fr1', ''), '{"type":"SUBAGENT_FINISHED","subagentRunId":"fr1","outcome":{"type":"suspended"}}', frameOf('completed', '', 'fr9', ''),
      '{"type":"SUBAGENT_ERROR","subagentRunId":"fr3","message":"m was stopped.","code":"stopped"}', stepped(1), stopped()
    ],
    outcome: 'success'
  },
  {
    name: "a run under its client's name, whose messages go back to the question",
    options: { clientRunId: 'theirs', rewindTo: [{ id: 'q1', role: 'user', content: 'Hi' }] },
    events: [started, ...completed],
    wire: [
      '{"type":"RUN_STARTED","threadId":"thread-1","runId":"theirs"}', '{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"q1","role":"user","content":"Hi"}]}',
      `{"type":"RUN_FINISHED","threadId":"thread-1","runId":"theirs",${spent},${notes('completed', 'stop', someUsage)}}`
    ],
    outcome: 'success'
  }
]

/** What clients before 1.0 refuse, for those that say they are newer. */
export const fullTranscripts: ReadonlyArray<Omit<Transcript, 'outcome'> & { readonly outcome: string }> = [
  { name: 'a stop', options: { profile: 'full' }, events: [started, { type: 'run-stopped', reason: 'user' }], wire: [begin, stopped('"outcome":{"type":"cancelled"},')], outcome: 'cancelled' },
  { name: 'a client tool that is called', options: { profile: 'full' }, events: waits, wire: [...waiting, finish('suspended', 'tool-calls', '"outcome":{"type":"success","pendingToolCallIds":["c1"]},')], outcome: 'success' }
]

function frameOf (status: string, text: string, frameId = 'fr1', path = '{"agentId":"a2","name":"helper","toolCallId":"c1"}'): string {
  return `{"type":"CUSTOM","name":"subagent","value":{"frameId":"${frameId}","agentPath":[${path}],"status":"${status}","text":"${text}","reasoning":""}}`
}
