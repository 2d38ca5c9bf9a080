import { z } from 'zod'
import { notFound } from '../../src/errors.ts'
import { openaiReference } from '../reference/openai.ts'
import { asOpenAI } from '../openai-errors.ts'
import { text } from '../schemas/fields.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const modelParams = z.object({ model: text.max(200) })

/** Agents, as models of an OpenAI-compatible provider. */
const models: RoutePlugin = async (app) => {
  asOpenAI(app)

  app.get('/models', { schema: openaiReference.models }, async ({ principal }) => ({ object: 'list', data: app.catalogue.list(principal).map(modelView) }))

  app.get('/models/:model', { schema: { ...openaiReference.model, params: modelParams } }, async ({ params, principal }) => {
    const agent = app.catalogue.find(principal, params.model)
    if (agent === undefined) throw notFound('model')
    return modelView(agent)
  })
}

/** An agent has no date of its own. */
function modelView ({ key }: { readonly key: string }) {
  return { id: key, object: 'model', created: 0, owned_by: 'parley' }
}

export default models
