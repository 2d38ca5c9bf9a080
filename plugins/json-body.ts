import fp from 'fastify-plugin'

/** Many clients say `application/json` with every request, also with those that have no body: that is no body, and no mistake. */
export default fp(async (app) => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body, done)
  })
}, { name: 'json-body' })
