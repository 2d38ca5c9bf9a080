import { artifactView } from '../../src/artifacts/artifact-view.ts'
import { pageView } from '../../src/threads/thread-view.ts'
import { artifactReference } from '../reference/artifacts.ts'
import { pageQuery, threadParams } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const artifacts: RoutePlugin = async (app) => {
  app.get('/threads/:threadId/artifacts', { schema: { ...artifactReference.list, params: threadParams, querystring: pageQuery } }, async (request) =>
    pageView(await app.artifacts.list(request.principal, request.params.threadId, { ...request.query, baseUrl: request.baseUrl() }), artifactView))
}

export default artifacts
