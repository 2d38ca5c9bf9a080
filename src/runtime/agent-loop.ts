import { AppError } from '../errors.ts'
import { askMember } from './ask-member.ts'
import type { MemberOptions } from './member.ts'
import { runLoop } from './run-loop.ts'
import { runSteps } from './run-steps.ts'

/** How an agent runs, whatever kind of agent it is, the root or a member. Throws what broke it. */
export const agentLoop: MemberOptions['loop'] = (frame, signal, resume) => {
  const { pipeline } = frame.agent
  if (pipeline === undefined) return runLoop(frame, signal, { loop: agentLoop, resume })
  // Steps never wait for somebody outside: what waited was another kind of agent of the same key.
  if (resume !== undefined) throw new AppError('configuration_error', `The agent "${frame.agent.name}" has changed, so it cannot go on.`)
  return runSteps(frame, pipeline, { signal, askAgent: askMember(frame, { signal, loop: agentLoop }) })
}
