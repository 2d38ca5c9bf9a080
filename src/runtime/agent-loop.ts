import { AppError } from '../errors.ts'
import { askMember } from './ask-member.ts'
import type { MemberOptions } from './member.ts'
import type { Batch } from '../streams/batch.ts'
import type { RunEventBody } from '../events/run-event.ts'
import type { Frame } from './frame.ts'
import { rememberFrame } from './recall.ts'
import { runLoop, type LoopEnd } from './run-loop.ts'
import { runSteps } from './run-steps.ts'
import { withToolArtifacts } from './tool-artifacts.ts'

/** How an agent runs, whatever kind of agent it is, the root or a member. Throws what broke it. */
export const agentLoop: MemberOptions['loop'] = (frame, signal, resume) => {
  const { pipeline } = frame.agent
  if (pipeline === undefined) {
    const events = withToolArtifacts(frame, runLoop(frame, signal, { loop: agentLoop, resume }), { signal, stopped: resume?.frame })
    return frame.memory === undefined ? events : remembered(frame, signal, events)
  }
  // Steps never wait for somebody outside: what waited was another kind of agent of the same key.
  if (resume !== undefined) throw new AppError('configuration_error', `The agent "${frame.agent.name}" has changed, so it cannot go on.`)
  return runSteps(frame, pipeline, { signal, askAgent: askMember(frame, { signal, loop: agentLoop }) })
}

/** Steps remember by themselves; of a model it is the conversation that is remembered. */
async function * remembered (frame: Frame, signal: AbortSignal, events: AsyncGenerator<Batch<RunEventBody>, LoopEnd>): AsyncGenerator<Batch<RunEventBody>, LoopEnd> {
  const end = yield * events
  const lost = end.kind === 'completed' ? await rememberFrame(frame, signal) : []
  if (lost.length > 0) yield lost
  return end
}
