import { newId } from '../ids.ts'
import type { Tool } from '../tools/tool.ts'
import type { Artifact } from './artifact.ts'

/** The tool by which a model submits an artifact: its input is the data. */
export interface ArtifactTool extends Tool {
  readonly artifact: Artifact
}

export function isArtifactTool (tool: Tool): tool is ArtifactTool {
  return 'artifact' in tool
}

export function artifactToolName ({ name }: Pick<Artifact, 'name'>): string {
  return `artifact_${name}`
}

export function artifactTool (artifact: Artifact): ArtifactTool {
  const { name, title, description, data } = artifact
  return Object.freeze({
    kind: 'tool',
    name: artifactToolName(artifact),
    title,
    description: description === '' ? `Gives the user the artifact "${name}".` : description,
    input: data,
    execute: newArtifact,
    timeoutMs: undefined,
    needsApproval: false,
    handling: 'response',
    artifact
  })
}

/** What a call that makes an artifact is answered with. */
export function newArtifact (): { readonly artifactId: string } {
  return { artifactId: newId() }
}
