import { randomUUID } from 'node:crypto'
import type { Agent } from '../agents/agent.ts'
import { artifactToolName, newArtifact } from '../artifacts/artifact-tool.ts'
import type { Artifact } from '../artifacts/artifact.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { untilAborted } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import { checkOfSchema } from '../tools/compiled-schema.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import type { Frame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import type { FrameCheckpoint } from './suspension.ts'

export interface ToolArtifactsOptions {
  readonly signal: AbortSignal
  /** Where the agent stopped, if it goes on from there. */
  readonly stopped: FrameCheckpoint | undefined
}

type Events<R> = AsyncGenerator<Batch<RunEventBody>, R>
interface Call { readonly toolName: string, readonly input: unknown }
interface Answered extends Call { readonly callId: string, readonly output: unknown }
type Source = Agent['toolArtifacts'][string]

/**
 * The events of an agent, and among them the artifacts of its tools: each right behind the result it is built of, whoever
 * gave that result. They are for people: the model is not told of them. A run that nobody follows has none.
 */
export function withToolArtifacts<R> (frame: Frame, events: Events<R>, options: ToolArtifactsOptions): Events<R> {
  const none = !frame.run.isStreamed || Object.keys(frame.agent.toolArtifacts).length === 0
  return none ? events : interspersed(frame, events, options)
}

async function * interspersed<R> (frame: Frame, events: Events<R>, { signal, stopped }: ToolArtifactsOptions): Events<R> {
  const calls = new Map<string, Call>(stopped?.calls.map((call) => [call.callId, call]))
  try {
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done === true) return next.value
      yield * withArtifacts(next.value)
    }
  } finally {
    await events.return(undefined as R) // its end is not read any more
  }

  async function * withArtifacts (batch: Batch<RunEventBody>): Events<void> {
    let told = 0
    for (const [index, event] of batch.entries()) {
      const call = answeredBy(event)
      if (call === undefined) continue
      yield batch.slice(told, told = index + 1)
      const artifact = await artifactOf(frame, call, signal)
      if (artifact.length > 0) yield artifact
    }
    if (told < batch.length) yield batch.slice(told)
  }

  /** The agent's own call that has its final result with this event. */
  function answeredBy (event: RunEventBody): Answered | undefined {
    if (event.agentPath !== undefined) return undefined
    if (event.type === 'tool-input-complete') calls.set(event.callId, event)
    if (event.type !== 'tool-output' || event.preliminary === true) return undefined
    const { callId, output } = event
    const call = calls.get(callId)
    return call === undefined ? undefined : { callId, toolName: call.toolName, input: call.input, output }
  }
}

async function artifactOf (frame: Frame, call: Answered, signal: AbortSignal): Promise<RunEventBody[]> {
  const { agent: { toolArtifacts }, run: { deps: { log } } } = frame
  const { callId, toolName } = call
  const source = Object.hasOwn(toolArtifacts, toolName) ? toolArtifacts[toolName] : undefined
  if (source === undefined) return []
  const skip = (fields: object) => {
    log.warn({ tool: toolName, callId, artifact: source.artifact.name, ...fields }, 'an artifact of a tool is left out')
    return []
  }
  try {
    const data = await build(frame, source, call, signal)
    if (data === null || data === undefined) return []
    const checked = checkOfSchema(source.artifact.data)(data)
    return checked.ok ? announcement(source.artifact, checked.value, callId) : skip({ issues: checked.issues })
  } catch (err) {
    if (signal.aborted) throw signal.reason
    return skip({ err })
  }
}

/** It may take as long as a tool, and no longer. */
async function build (frame: Frame, source: Source, { callId, toolName, input, output }: Answered, signal: AbortSignal): Promise<unknown> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(frame.agent.toolTimeoutMs)])
  // A tool's input is an object; what builds may change the copies it is given.
  const args = structuredClone(toJsonSafe(input)) as Readonly<Record<string, unknown>>
  const work = async () => await source.build(args, parsed(output), { ...hookContext(frame, both), callId, toolName })
  return await untilAborted(work(), both)
}

/** Tools of other servers give their results as text. */
function parsed (output: unknown): unknown {
  if (typeof output !== 'string') return structuredClone(output)
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? value : output
  } catch {
    return output // a text like any other
  }
}

/** As a call of its own, which says what it belongs to. */
function announcement (artifact: Artifact, data: unknown, sourceCallId: string): RunEventBody[] {
  const callId = `call_${randomUUID()}`
  const toolName = artifactToolName(artifact)
  return [
    { type: 'tool-call-start', callId, toolName, ...(artifact.title === undefined ? {} : { title: artifact.title }) },
    { type: 'tool-input-complete', callId, toolName, input: toJsonSafe(data), attribution: { artifact: artifact.name, artifactOf: sourceCallId } },
    { type: 'tool-output', callId, output: newArtifact() }
  ]
}
