import rateLimit from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../src/config.ts'
import { AppError } from '../src/errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Count one event each and throw rate_limited when it is one too many in this minute. */
    rateLimits: RateLimits
  }
}

export interface RateLimits {
  /** A request of a known caller, wherever it comes from. A stream counts once, however long it is. */
  caller: (request: FastifyRequest) => Promise<void>
  /** A request of somebody who is known by address only. */
  stranger: (request: FastifyRequest) => Promise<void>
  /** Credentials that are wrong. */
  failure: (request: FastifyRequest) => Promise<void>
}

type Rule = NonNullable<Parameters<FastifyInstance['createRateLimit']>[0]>
export type RateLimitOptions = Pick<Config, 'rateLimitPerMinute' | 'authFailuresPerMinute'>

const minuteMs = 60_000
// Each rule remembers so many of its keys, the latest; a flood of addresses does not push callers out.
const remembered = 20_000

export default fp<RateLimitOptions>(async (app, { rateLimitPerMinute, authFailuresPerMinute }) => {
  await app.register(rateLimit, { global: false, cache: remembered })
  app.decorate('rateLimits', {
    caller: limiter(app, rateLimitPerMinute, { keyGenerator: ({ principal }) => JSON.stringify([principal.tenantId, principal.userId]) }),
    // Without a key generator of ours it is the address, of IPv6 the network: one host has billions of them.
    stranger: limiter(app, rateLimitPerMinute, {}),
    failure: limiter(app, authFailuresPerMinute, {})
  })
}, { name: 'rate-limit' })

function limiter (app: FastifyInstance, perMinute: number, rule: Rule): RateLimits['caller'] {
  if (perMinute === 0) return async () => {}
  const count = app.createRateLimit({ ...rule, max: perMinute, timeWindow: minuteMs })
  return async (request) => {
    const result = await count(request)
    if (!result.isAllowed && result.isExceeded) throw new AppError('rate_limited', 'Too many requests. Wait a moment and try again.', { retryAfterMs: Math.max(result.ttl, 1_000) })
  }
}
