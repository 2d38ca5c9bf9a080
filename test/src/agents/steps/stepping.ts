import { followAll } from '../../../../src/agents/steps/outputs.ts'
import type { Answer, ShownOutput, Step, StepContext } from '../../../../src/agents/steps/step.ts'
import { alice } from '../../../contracts/turns.ts'

/** A context whose model and agents answer with their question, and whose tools do nothing. */
export function contextWith (more: Partial<StepContext> = {}): StepContext {
  return {
    principal: alice, threadId: 'thread-1', runId: 'run-1', metadata: {}, signal: new AbortController().signal,
    messages: [{ role: 'user', content: 'hello' }], question: 'hello',
    askModel: ({ messages }) => echo(`model: ${String(messages)}`),
    askAgent: (agent, task) => echo(`${agent}: ${task}`),
    callTool: async () => undefined,
    ...more
  }
}

export async function * echo (text: string): Answer {
  for (const word of text.split(/(?<= )/)) yield word
  return text
}

export interface Taken<S> {
  readonly shown: readonly ShownOutput[]
  /** All of the text, without the borders between its pieces. */
  readonly text: string
  readonly state: S
}

/** Takes steps to their end. `shown` may be given, to see what came before a failure. */
export async function take<S> (steps: readonly Step<S>[] | Step<S>, state: S, context = contextWith(), shown: ShownOutput[] = []): Promise<Taken<S>> {
  const stream = followAll(typeof steps === 'function' ? [steps] : steps, state, context)
  let next = await stream.next()
  while (next.done !== true) {
    shown.push(next.value)
    next = await stream.next()
  }
  return { shown, text: shown.filter((output) => typeof output === 'string').join(''), state: next.value }
}
