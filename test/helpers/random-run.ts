import { ended, started } from './run-events.ts'
import type { RunEventBody } from '../../src/events/run-event.ts'

export type Random = () => number

/** Numbers in [0, 1) that a seed repeats (a linear congruential generator). */
export function seeded (seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const texts = ['Hello', ' ', '"q"\n', 'ümläut 😀', '\u2028', '{"a":1}', '__proto__', '\\', '<b>', '']
const values: readonly unknown[] = [undefined, null, 0, 'text', [1, [2]], { a: { b: null } }, { list: [] }, '😀', true, '{"broken', { rawInput: 1 }]

/** A well-ordered run: any steps, blocks, interleaved calls and endings. */
export function randomRun (random: Random): RunEventBody[] {
  const events: RunEventBody[] = [started]
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T // never past the end
  const chance = (p: number) => random() < p
  let ids = 0

  const steps = Math.floor(random() * 4)
  for (let step = 1; step <= steps; step++) {
    events.push({ type: 'step-start', step })
    for (let n = Math.floor(random() * 4); n > 0; n--) pick([textBlock, reasoningBlock, calls, calls, whole])()
    events.push({ type: 'step-end', step })
  }
  if (chance(0.2)) events.push({ type: 'suggestions', suggestions: [pick(texts)] })
  return [...events, ...ending()]

  function textBlock (): void {
    const blockId = `t${ids++}`
    events.push({ type: 'text-start', blockId })
    for (let n = Math.floor(random() * 4); n > 0; n--) events.push({ type: 'text-delta', blockId, delta: pick(texts) })
    events.push({ type: 'text-end', blockId })
  }

  function reasoningBlock (): void {
    const blockId = `r${ids++}`
    events.push({ type: 'reasoning-start', blockId }, { type: 'reasoning-delta', blockId, delta: pick(texts) }, { type: 'reasoning-end', blockId, ...(ids % 3 === 0 ? { providerMetadata: { openai: { model: 'm', itemId: 'i', encryptedContent: 'e' } } } : {}) })
  }

  /** Parallel calls, each in its own order, interleaved with the others. */
  function calls (): void {
    const lanes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => oneCall(`c${ids++}`))
    while (lanes.some((lane) => lane.length > 0)) {
      const event = pick(lanes).shift()
      if (event !== undefined) events.push(event)
    }
  }

  function oneCall (callId: string): RunEventBody[] {
    const toolName = pick(['roll', 'data-x', 'a_b'])
    const lane: RunEventBody[] = [{ type: 'tool-call-start', callId, toolName, ...(chance(0.3) ? { dynamic: true } : {}), ...(chance(0.1) ? { handoff: 'other' } : {}), ...(ids % 5 === 0 ? { providerExecuted: true } : {}), ...(chance(0.3) ? { title: 'Title' } : {}) }]
    if (chance(0.5)) lane.push({ type: 'tool-input-delta', callId, delta: '{"n":' }, { type: 'tool-input-delta', callId, delta: pick(['1}', '"x', '']) })
    if (chance(0.25)) return [...lane, { type: 'tool-input-invalid', callId, toolName, input: pick(values), message: pick(texts) }]
    lane.push({ type: 'tool-input-complete', callId, toolName, input: pick(values) })
    if (chance(0.2)) lane.push({ type: 'tool-output', callId, output: pick(values), preliminary: true })
    return [...lane, chance(0.3) ? { type: 'tool-error', callId, code: 'tool_failed', message: pick(texts) } : { type: 'tool-output', callId, output: pick(values) }]
  }

  function whole (): void {
    events.push(pick<RunEventBody>([
      { type: 'source', index: 1, sourceId: 's', title: 'T', url: 'https://example.org/' },
      { type: 'source', index: 2, sourceId: 's', title: 'T', fileId: 'f', page: 2, snippet: 'x' },
      { type: 'file', url: 'https://example.org/a', mediaType: 'text/plain' },
      { type: 'data', name: 'x', data: pick(values) },
      { type: 'data', name: 'x', id: pick(['1', '2']), data: pick(values) },
      { type: 'data', name: 'x', data: 1, transient: true },
      { type: 'title', title: 'T' },
      { type: 'progress', message: 'p' },
      { type: 'subagent-update', frameId: 'f', name: 'm', status: 'running', text: pick(texts), reasoning: '' }
    ]))
  }

  function ending (): RunEventBody[] {
    return pick<RunEventBody[]>([
      [ended(), { type: 'run-completed' }],
      [{ type: 'run-stopped', reason: 'user' }],
      [{ type: 'run-failed', code: 'unknown', message: 'Broken.', retryable: true, ref: 'ffffffff' }],
      [{ type: 'run-interrupted', code: 'unknown', message: 'Gone.', retryable: true, ref: 'ffffffff' }]
    ])
  }
}
