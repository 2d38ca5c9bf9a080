import { describe, json } from './describe.ts'
import { artifactExample } from './examples.ts'
import { artifactShape, pageShape } from './shapes.ts'

export const artifactReference = {
  list: describe({
    id: 'listArtifacts', tag: 'Artifacts', summary: 'List the artifacts of a thread, newest first',
    description: 'Those of all its messages, on every branch; an artifact of a deleted message is left out with it. `data` is as the definition of the artifact resolves it for the reader.',
    answers: { 200: json('A page of artifacts', pageShape(artifactShape), { items: [artifactExample], nextCursor: null }) },
    errors: ['not_found']
  })
}
