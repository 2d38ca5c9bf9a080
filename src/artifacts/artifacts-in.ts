import { z } from 'zod'
import { agentPathSchema, type AgentPath } from '../events/run-event.ts'
import { isToolPart, type MessagePart } from '../messages/parts.ts'

/** An artifact as a message contains it. */
export interface ContainedArtifact {
  readonly id: string
  readonly name: string
  readonly data: unknown
  /** The call that is its part of the message. */
  readonly callId: string
  /** The call it was built of; undefined for one that a model submitted. */
  readonly sourceCallId: string | undefined
  /** Who made it: empty for the agent that was asked. */
  readonly agentPath: AgentPath
}

const notesSchema = z.object({ artifact: z.string(), artifactOf: z.string().optional(), agentPath: agentPathSchema.default([]) })
const outputSchema = z.object({ artifactId: z.string() })

/** The artifacts of a message, in their order. Calls that failed made none. */
export function artifactsIn (parts: readonly MessagePart[]): ContainedArtifact[] {
  return parts.flatMap((part) => {
    if (!isToolPart(part) || part.state !== 'output-available') return []
    const notes = notesSchema.safeParse(part.callProviderMetadata?.['parley'])
    const output = outputSchema.safeParse(part.output)
    if (!notes.success || !output.success) return []
    const { artifact, artifactOf, agentPath } = notes.data
    return [{ id: output.data.artifactId, name: artifact, data: part.input, callId: part.toolCallId, sourceCallId: artifactOf, agentPath }]
  })
}
