import { setMaxListeners } from 'node:events'
import { frozen } from '../agents/frozen.ts'
import { isState, outputsOf } from '../agents/steps/outputs.ts'
import type { Pipeline } from '../agents/steps/pipeline.ts'
import type { StepOutput } from '../agents/steps/step.ts'
import { AppError } from '../errors.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { rememberTurn } from '../memories/remember-turn.ts'
import { noTurnMemory } from '../memories/turn-memory.ts'
import type { ModelMessage } from '../models/model.ts'
import { untilAborted } from '../streams/abort.ts'
import { closeSoon } from '../streams/abortable.ts'
import type { Batch } from '../streams/batch.ts'
import { createAsides, type Asides } from './asides.ts'
import type { Frame } from './frame.ts'
import { responseProblem } from './response-shape.ts'
import type { LoopEnd } from './run-loop.ts'
import { createStepContext, type AskMember } from './step-context.ts'
import { createStepWriter, type StepWriter } from './step-writer.ts'

export interface StepsRun {
  readonly signal: AbortSignal
  /** Runs the agents that steps ask. */
  readonly askAgent: AskMember
}

/** As the run loop ends, with all the text that was shown: an agent of steps says its answer in any of them. */
export type StepsEnd = LoopEnd & { readonly kind: 'completed' }

type Events<R> = AsyncGenerator<Batch<RunEventBody>, R>

/**
 * The steps of an agent, one after the other, as the events between the start and the end of its message. Throws what
 * broke the run: an abort of the signal at once, its reason. What the run remembers is kept when all steps are done.
 */
export async function * runSteps (frame: Frame, pipeline: Pipeline, { signal, askAgent }: StepsRun): Events<StepsEnd> {
  const { state, asked: { response }, memory = noTurnMemory(), run: { deps } } = frame
  // Steps that run side by side, and each that one is made of, listen on their own: many are no leak.
  setMaxListeners(0, signal)
  const asides = createAsides()
  let remembered: readonly ModelMessage[] | undefined
  const stepMemory = { recall: () => memory.recall(), remember: (messages: readonly ModelMessage[]) => { remembered = messages } }
  const context = createStepContext({ frame, signal, askAgent, memory: stepMemory }, asides)
  const writer = createStepWriter(state.nextBlockId)
  let current = frozen(await untilAborted(Promise.resolve().then(() => pipeline.initial(context)), signal))

  for (const step of pipeline.steps) {
    state.step++
    yield [{ type: 'step-start', step: state.step }]
    current = yield * runStep(outputsOf(step, current, context), current, { asides, signal, writer })
    yield writer.end(state.step)
  }

  const text = writer.text()
  if (response !== undefined && responseProblem(text, response) !== undefined) throw new AppError('provider_unavailable', 'The agent did not answer in the requested shape.')
  const lost = remembered === undefined ? [] : await rememberTurn(memory, remembered, { log: deps.log, signal })
  if (lost.length > 0) yield lost
  return { kind: 'completed', finishReason: 'stop', text, capped: false }
}

interface StepRun {
  readonly asides: Asides
  readonly signal: AbortSignal
  readonly writer: StepWriter
}

// A step that never waits would keep every other run waiting, and would not hear of a stop.
const outputsPerTurn = 64

async function * runStep (outputs: AsyncGenerator<StepOutput<unknown>, void>, before: unknown, { asides, signal, writer }: StepRun): Events<unknown> {
  const left = () => writer.take(asides.take())
  try {
    const last = yield * readStep(outputs, before, { asides, signal, writer })
    const events = left()
    if (events.length > 0) yield events
    return last
  } catch (error) {
    // What models have used by now counts, however the step ends.
    const events = left()
    if (events.length > 0) yield events
    throw error
  }
}

async function * readStep (outputs: AsyncGenerator<StepOutput<unknown>, void>, before: unknown, run: StepRun): Events<unknown> {
  const { asides, writer } = run
  let last = before
  try {
    for (let count = 1; ; count++) {
      const next = yield * nextOutput(outputs, run)
      if (next.done === true) return last
      if (isState(next.value)) last = next.value.state
      else yield [...writer.take(asides.take()), ...writer.write(next.value)]
      if (count % outputsPerTurn === 0) await nextTurn()
    }
  } finally {
    await closeSoon(outputs)
  }
}

/** Waits for a step to say something, and yields what happens beside it meanwhile. */
async function * nextOutput (outputs: AsyncGenerator<StepOutput<unknown>, void>, { asides, signal, writer }: StepRun): Events<IteratorResult<StepOutput<unknown>, void>> {
  const pending = outputs.next()
  const state = { isSettled: false }
  const settle = () => {
    state.isSettled = true
    asides.wake()
  }
  pending.then(settle, settle)
  while (!state.isSettled) {
    await untilAborted(asides.arrived(), signal)
    const events = writer.take(asides.take())
    if (events.length > 0) yield events
  }
  return await pending
}

function nextTurn (): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve) })
}
