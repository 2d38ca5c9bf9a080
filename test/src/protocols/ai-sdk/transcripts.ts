import { continued, ended, started } from '../../../helpers/run-events.ts'
import type { RunEventBody } from '../../../../src/events/run-event.ts'
import type { MessagePart } from '../../../../src/messages/parts.ts'

export interface Transcript {
  readonly name: string
  readonly events: readonly RunEventBody[]
  readonly initialParts?: readonly MessagePart[]
  /** JSON of each `data:` line. */
  readonly wire: readonly string[]
  readonly errors?: readonly string[]
}

const start = '{"type":"start","messageId":"msg-1"}'
const metadata = (status: string, finishReason: string, usage: string) =>
  `{"createdAt":"2026-01-02T03:04:05.000Z","status":"${status}","finishReason":"${finishReason}","usage":${usage},"model":"test:model","threadId":"thread-1","runId":"run-1"}`
const someUsage = '{"input":7,"output":3,"reasoning":0,"cachedRead":0,"cacheWrite":0}'
const zeroUsage = '{"input":0,"output":0,"reasoning":0,"cachedRead":0,"cacheWrite":0}'
const finish = (status: string, finishReason: string, usage = someUsage) =>
  `{"type":"finish","finishReason":"${finishReason}","messageMetadata":${metadata(status, finishReason, usage)}}`

const failed: RunEventBody = { type: 'run-failed', code: 'provider_unavailable', message: 'The model did not answer.', retryable: true, ref: '0a1b2c3d' }
const failedWire = [
  '{"type":"data-error","data":{"code":"provider_unavailable","message":"The model did not answer.","retryable":true,"ref":"0a1b2c3d"}}',
  '{"type":"error","errorText":"The model did not answer."}'
]

function text (blockId: string, ...deltas: string[]): RunEventBody[] {
  return [{ type: 'text-start', blockId }, ...deltas.map((delta): RunEventBody => ({ type: 'text-delta', blockId, delta })), { type: 'text-end', blockId }]
}

export const transcripts: readonly Transcript[] = [
  {
    name: 'a plain answer',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'Hel', 'lo "you"\n'), { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }],
    wire: [start, '{"type":"start-step"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"Hel"}', '{"type":"text-delta","id":"b1","delta":"lo \\"you\\"\\n"}', '{"type":"text-end","id":"b1"}', '{"type":"finish-step"}', finish('completed', 'stop')]
  },
  {
    name: 'an answer after a tool',
    events: [
      started, { type: 'step-start', step: 1 },
      { type: 'tool-call-start', callId: 'c1', toolName: 'roll', title: 'Roll dice' }, { type: 'tool-input-delta', callId: 'c1', delta: '{"n":' }, { type: 'tool-input-delta', callId: 'c1', delta: '2}' },
      { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: { n: 2 } },
      { type: 'tool-output', callId: 'c1', output: { sum: 7 } },
      { type: 'step-end', step: 1 }, { type: 'step-start', step: 2 }, ...text('b1', 'Seven'), { type: 'step-end', step: 2 }, ended(), { type: 'run-completed' }
    ],
    wire: [
      start, '{"type":"start-step"}', '{"type":"tool-input-start","toolCallId":"c1","toolName":"roll"}',
      '{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\\"n\\":"}', '{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"2}"}',
      '{"type":"tool-input-available","toolCallId":"c1","toolName":"roll","input":{"n":2}}', '{"type":"tool-output-available","toolCallId":"c1","output":{"sum":7}}',
      '{"type":"finish-step"}', '{"type":"start-step"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"Seven"}', '{"type":"text-end","id":"b1"}', '{"type":"finish-step"}', finish('completed', 'stop')
    ]
  },
  {
    name: 'two tools at once, one failing, one of them dynamic with a preliminary result',
    events: [
      started, { type: 'step-start', step: 1 },
      { type: 'tool-call-start', callId: 'c1', toolName: 'roll' }, { type: 'tool-call-start', callId: 'c2', toolName: 'remote', dynamic: true },
      { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: undefined }, { type: 'tool-input-complete', callId: 'c2', toolName: 'remote', input: {} },
      { type: 'tool-output', callId: 'c2', output: 'half', preliminary: true }, { type: 'tool-error', callId: 'c1', code: 'tool_failed', message: 'The tool "roll" failed.' }, { type: 'tool-output', callId: 'c2', output: undefined },
      { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
    ],
    wire: [
      start, '{"type":"start-step"}', '{"type":"tool-input-start","toolCallId":"c1","toolName":"roll"}', '{"type":"tool-input-start","toolCallId":"c2","toolName":"remote","dynamic":true}',
      '{"type":"tool-input-available","toolCallId":"c1","toolName":"roll","input":null}', '{"type":"tool-input-available","toolCallId":"c2","toolName":"remote","input":{},"dynamic":true}',
      '{"type":"tool-output-available","toolCallId":"c2","output":"half","dynamic":true,"preliminary":true}', '{"type":"tool-output-error","toolCallId":"c1","errorText":"The tool \\"roll\\" failed."}',
      '{"type":"tool-output-available","toolCallId":"c2","output":null,"dynamic":true}', '{"type":"finish-step"}', finish('completed', 'stop')
    ]
  },
  {
    name: 'reasoning before the answer',
    events: [started, { type: 'step-start', step: 1 }, { type: 'reasoning-start', blockId: 'r1' }, { type: 'reasoning-delta', blockId: 'r1', delta: 'Hm' }, { type: 'reasoning-end', blockId: 'r1' }, ...text('b1', 'Yes'), { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }],
    wire: [start, '{"type":"start-step"}', '{"type":"reasoning-start","id":"r1"}', '{"type":"reasoning-delta","id":"r1","delta":"Hm"}', '{"type":"reasoning-end","id":"r1"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"Yes"}', '{"type":"text-end","id":"b1"}', '{"type":"finish-step"}', finish('completed', 'stop')]
  },
  {
    name: 'a call that cannot be read',
    events: [
      started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'roll' }, { type: 'tool-input-delta', callId: 'c1', delta: '{"n":tw' },
      { type: 'tool-input-invalid', callId: 'c1', toolName: 'roll', input: '{"n":tw', message: 'Not JSON.' }, { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
    ],
    wire: [
      start, '{"type":"start-step"}', '{"type":"tool-input-start","toolCallId":"c1","toolName":"roll"}', '{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\\"n\\":tw"}',
      '{"type":"tool-input-error","toolCallId":"c1","toolName":"roll","input":"{\\"n\\":tw","errorText":"Not JSON."}',
      '{"type":"tool-input-start","toolCallId":"c1","toolName":"roll"}', '{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"\\"{\\\\\\"n\\\\\\":tw\\""}', '{"type":"tool-output-error","toolCallId":"c1","errorText":"Not JSON."}',
      '{"type":"finish-step"}', finish('completed', 'stop')
    ]
  },
  {
    name: 'a stop in the middle of text',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'So f'), { type: 'run-stopped', reason: 'user' }],
    wire: [start, '{"type":"start-step"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"So f"}', '{"type":"text-end","id":"b1"}', '{"type":"abort"}', '{"type":"finish-step"}', finish('stopped', 'other', zeroUsage)]
  },
  {
    name: 'a stop before the first token',
    events: [started, { type: 'run-stopped', reason: 'user' }],
    wire: [start, '{"type":"abort"}', finish('stopped', 'other', zeroUsage)]
  },
  {
    name: 'a failure before the first token',
    events: [started, failed],
    wire: [start, ...failedWire, finish('failed', 'error', zeroUsage)],
    errors: ['The model did not answer.']
  },
  {
    name: 'a failure in the middle of a step',
    events: [started, { type: 'step-start', step: 1 }, ...text('b1', 'So f'), { type: 'usage', model: 'test:model', buckets: { input: 7, output: 3, reasoning: 0, cachedRead: 0, cacheWrite: 0 } }, failed],
    wire: [start, '{"type":"start-step"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"So f"}', '{"type":"text-end","id":"b1"}', ...failedWire, '{"type":"finish-step"}', finish('failed', 'error')],
    errors: ['The model did not answer.']
  },
  {
    name: 'a suspension on a client tool',
    events: [
      started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c1', toolName: 'locate' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'locate', input: {} },
      { type: 'step-end', step: 1 }, ended('tool-calls'), { type: 'run-suspended', approvals: [], pendingCalls: ['c1'] }
    ],
    wire: [start, '{"type":"start-step"}', '{"type":"tool-input-start","toolCallId":"c1","toolName":"locate"}', '{"type":"tool-input-available","toolCallId":"c1","toolName":"locate","input":{}}', '{"type":"finish-step"}', finish('suspended', 'tool-calls')]
  },
  {
    name: 'a continuation of the same message',
    initialParts: [{ type: 'step-start' }, { type: 'dynamic-tool', toolName: 'locate', toolCallId: 'c1', state: 'input-available', input: {} }],
    events: [continued, { type: 'tool-output', callId: 'c1', output: 'here' }, { type: 'step-start', step: 2 }, ...text('b2', 'There'), { type: 'step-end', step: 2 }, ended(), { type: 'run-completed' }],
    wire: [start, '{"type":"tool-output-available","toolCallId":"c1","output":"here","dynamic":true}', '{"type":"start-step"}', '{"type":"text-start","id":"b2"}', '{"type":"text-delta","id":"b2","delta":"There"}', '{"type":"text-end","id":"b2"}', '{"type":"finish-step"}', finish('completed', 'stop')]
  },
  {
    name: 'a replay from a snapshot that caught a text block open',
    events: [
      started, { type: 'snapshot', parts: [{ type: 'step-start' }, { type: 'reasoning', id: 'r1', text: 'Hm', state: 'done' }, { type: 'text', text: 'So ', state: 'streaming' }] },
      { type: 'text-delta', blockId: 'b9', delta: 'far' }, { type: 'text-end', blockId: 'b9' }, { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
    ],
    wire: [
      start, '{"type":"start-step"}', '{"type":"reasoning-start","id":"r1"}', '{"type":"reasoning-delta","id":"r1","delta":"Hm"}', '{"type":"reasoning-end","id":"r1"}',
      '{"type":"text-start","id":"replay-2"}', '{"type":"text-delta","id":"replay-2","delta":"So "}', '{"type":"text-delta","id":"replay-2","delta":"far"}', '{"type":"text-end","id":"replay-2"}', '{"type":"finish-step"}', finish('completed', 'stop')
    ]
  },
  {
    name: 'sources, files, data, suggestions, a title, progress and members',
    events: [
      started, { type: 'step-start', step: 1 }, ...text('b1', 'See [1]'),
      { type: 'source', index: 1, sourceId: 's1', title: 'Page', url: 'https://example.org/' }, { type: 'source', index: 2, sourceId: 's2', title: 'Doc', fileId: 'f1', page: 3 },
      { type: 'file', url: 'https://example.org/a.png', mediaType: 'image/png', name: 'a.png' }, { type: 'file', fileId: 'f2', mediaType: 'text/csv' },
      { type: 'data', name: 'chart', id: 'd1', data: { n: 1 } }, { type: 'data', name: 'chart', id: 'd1', data: { n: 2 } }, { type: 'data', name: 'ping', data: 1, transient: true },
      { type: 'suggestions', suggestions: ['More?'] }, { type: 'title', title: 'A chat' }, { type: 'progress', message: 'Half', fraction: 0.5 },
      { type: 'subagent-start', frameId: 'fr1', name: 'helper', status: 'running', text: '', reasoning: '' },
      ...text('m1', 'Do', 'ne').map((event) => ({ ...event, agentPath: [{ agentId: 'a2', name: 'helper', toolCallId: 'c9' }] })),
      { type: 'subagent-end', frameId: 'fr1', name: 'helper', status: 'completed', text: 'Done', reasoning: '' },
      { type: 'step-end', step: 1 }, ended(), { type: 'run-completed' }
    ],
    wire: [
      start, '{"type":"start-step"}', '{"type":"text-start","id":"b1"}', '{"type":"text-delta","id":"b1","delta":"See [1]"}', '{"type":"text-end","id":"b1"}',
      '{"type":"source-url","sourceId":"s1","url":"https://example.org/","title":"Page","providerMetadata":{"parley":{"index":1}}}',
      '{"type":"source-document","sourceId":"s2","mediaType":"application/octet-stream","title":"Doc","providerMetadata":{"parley":{"index":2,"fileId":"f1","page":3}}}',
      '{"type":"file","url":"https://example.org/a.png","mediaType":"image/png"}', '{"type":"file","url":"/v1/threads/thread-1/files/f2/content","mediaType":"text/csv"}',
      '{"type":"data-chart","id":"d1","data":{"n":1}}', '{"type":"data-chart","id":"d1","data":{"n":2}}', '{"type":"data-ping","data":1,"transient":true}',
      '{"type":"data-suggestions","data":{"suggestions":["More?"]}}', '{"type":"data-title","data":{"title":"A chat"},"transient":true}', '{"type":"data-progress","data":{"agentPath":[],"message":"Half","fraction":0.5},"transient":true}',
      '{"type":"data-subagent","id":"fr1","data":{"frameId":"fr1","agentPath":[],"status":"running","text":"","reasoning":""}}', '{"type":"data-subagent","id":"fr1","data":{"frameId":"fr1","agentPath":[],"status":"completed","text":"Done","reasoning":""}}',
      '{"type":"finish-step"}', finish('completed', 'stop')
    ]
  }
]
