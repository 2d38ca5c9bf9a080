import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { createAuthenticator, type Authentication } from '../src/auth/authenticator.ts'
import { anonymous, type Principal } from '../src/auth/principal.ts'
import type { Config } from '../src/config.ts'
import { AppError, notFound } from '../src/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking. */
    principal: Principal
  }
}

export interface PrincipalOptions {
  readonly config: Config
  /** Where unknown paths ask for credentials too, so that strangers cannot map the service. */
  readonly prefixes: readonly string[]
}

/** Everything in the scope this is registered in is for callers who have said who they are. */
export default fp<PrincipalOptions>(async (app, { config, prefixes }) => {
  app.decorateRequest('principal')
  if (config.auth === 'none') letAllIn(app)
  else askEveryone(app, config)
  for (const prefix of prefixes) {
    await app.register(async (part) => { part.setNotFoundHandler(async () => { throw notFound('route') }) }, { prefix })
  }
}, { name: 'principal', dependencies: ['rate-limit'] })

/** Everybody is the one anonymous caller: only their addresses can be told apart. */
function letAllIn (app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    request.principal = anonymous
    await app.rateLimits.stranger(request)
  })
}

function askEveryone (app: FastifyInstance, config: Config): void {
  const authenticator = createAuthenticator(config)
  if (config.authJwksUrl !== undefined && config.authAudience === undefined) app.log.warn('AUTH_AUDIENCE is not set: tokens that the same issuer made for other services are accepted too')

  app.addHook('onRequest', async (request, reply) => {
    const result = await authenticator.authenticate(request.headers)
    if (result.ok) {
      request.principal = result.principal
      const { tenantId: tenant, userId: user } = result.principal
      request.log = reply.log = request.log.child({ tenant, user })
      await app.rateLimits.caller(request)
      return
    }
    request.log.debug({ reason: result.reason }, 'credentials refused')
    // After the check and not before it: others behind the same address, who have a good key, still get in. There is
    // nothing to guess in a key or a signature, so that the limit need not stop guessing.
    await app.rateLimits[limitOf(result)](request)
    void reply.header('www-authenticate', 'Bearer')
    throw new AppError('unauthenticated', 'Credentials are missing or not valid.')
  })
}

function limitOf ({ cause }: Authentication & { ok: false }): 'stranger' | 'failure' {
  return cause === 'missing' ? 'stranger' : 'failure'
}
