import { artifactToolName } from '../artifacts/artifact-tool.ts'
import type { Artifact } from '../artifacts/artifact.ts'
import type { Attributes, OwnTools } from './check-agent.ts'
import { didYouMean } from './suggest.ts'

type Data = Pick<Attributes['data'], 'artifacts' | 'toolArtifacts'>

/** With the tools that submit artifacts, which can be required and chosen, and with what is wrong among artifacts. */
export function withArtifacts (own: OwnTools, data: Data): OwnTools {
  return {
    ...own,
    names: new Set([...own.names, ...data.artifacts.map(artifactToolName)]),
    problems: [...own.problems, ...artifactProblems(data, own.names)]
  }
}

/** Of tools that are not there nothing is shown. Those of a crew are named when a run starts. */
export function unknownSources ({ toolArtifacts, agents }: Pick<Attributes['data'], 'toolArtifacts' | 'agents'>, { names, complete }: OwnTools): string[] {
  if (!complete || agents.length > 0) return []
  return Object.keys(toolArtifacts).filter((name) => !names.has(name)).map((name) => `toolArtifacts: the agent has no tool "${name}".${didYouMean(name, [...names])}`)
}

function artifactProblems ({ artifacts, toolArtifacts }: Data, ownNames: ReadonlySet<string>): string[] {
  const problems: string[] = []
  const known = new Map<string, Artifact>()
  for (const [index, artifact] of artifacts.entries()) {
    const { name } = artifact
    if (known.has(name)) problems.push(`artifacts[${index}]: a second artifact named "${name}"`)
    if (ownNames.has(artifactToolName(artifact))) problems.push(`artifacts[${index}]: the agent has a tool "${artifactToolName(artifact)}" of its own, which is the name of the one that submits the artifact`)
    known.set(name, artifact)
  }
  for (const [toolName, { artifact }] of Object.entries(toolArtifacts)) {
    const other = known.get(artifact.name) ?? artifact
    if (other.data !== artifact.data || other.resolve !== artifact.resolve) problems.push(`toolArtifacts.${toolName}: it is another artifact than the one named "${artifact.name}" before it`)
    known.set(artifact.name, other)
  }
  return problems
}
