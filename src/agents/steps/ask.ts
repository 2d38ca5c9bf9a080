import type { Tool } from '../../tools/tool.ts'
import type { Metadata } from '../metadata.ts'
import type { Answer, ModelQuestion, ShownOutput, Step, StepContext } from './step.ts'

export interface AnswerOptions<S> {
  /** Whether the user sees it as it comes; true when absent. */
  readonly show?: boolean
  /** The state with the answer in it. */
  readonly into?: (state: S, text: string) => S
}

/** A step that asks a model. */
export function askModel<S> ({ question, ...options }: AnswerOptions<S> & { readonly question: (state: S, context: StepContext) => ModelQuestion }): Step<S> {
  return answered((state, context) => context.askModel(question(state, context)), options)
}

export interface AskAgentStep<S> extends AnswerOptions<S> {
  readonly task: (state: S, context: StepContext) => string
  /** For that agent and everything below it, over what it inherits. */
  readonly metadata?: (state: S, context: StepContext) => Metadata
}

/** A step that asks another agent, by its key. */
export function askAgent<S> (agent: string, { task, metadata, ...options }: AskAgentStep<S>): Step<S> {
  return answered((state, context) => context.askAgent(agent, task(state, context), { metadata: metadata?.(state, context) }), options)
}

/** A step that calls a tool, which is not shown. */
export function callTool<S> (tool: Tool, { input, into }: { readonly input: (state: S, context: StepContext) => unknown, readonly into?: (state: S, output: unknown) => S }): Step<S> {
  return async function * (state, context) {
    const output = await context.callTool(tool, input(state, context))
    if (into !== undefined) yield { type: 'state', state: into(state, output) }
  }
}

/** The whole of an answer, without showing it. */
export async function unseen (answer: Answer): Promise<string> {
  let next = await answer.next()
  while (next.done !== true) next = await answer.next()
  return next.value
}

function answered<S> (ask: (state: S, context: StepContext) => Answer, { show = true, into }: AnswerOptions<S>): Step<S> {
  return async function * (state, context) {
    const text = yield * show ? ask(state, context) : hidden(ask(state, context))
    if (into !== undefined) yield { type: 'state', state: into(state, text) }
  }
}

/** Like `unseen`, for where an answer belongs: what is hidden is closed with its step. */
async function * hidden (answer: Answer): AsyncGenerator<ShownOutput, string> {
  try {
    return await unseen(answer)
  } finally {
    await answer.return('')
  }
}
