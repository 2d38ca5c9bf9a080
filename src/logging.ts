import { stdSerializers, type LoggerOptions } from 'pino'
import type { Config } from './config.ts'

/** JSON lines without secrets: no header that carries one is logged, and no body ever is. */
export function loggerOptions ({ logLevel }: Pick<Config, 'logLevel'>): LoggerOptions {
  return {
    level: logLevel,
    serializers: { err: stdSerializers.err },
    redact: {
      paths: ['req.headers.authorization', 'req.headers["x-api-key"]', 'req.headers.cookie', '*.apiKey', '*.headers.authorization', 'err.config', 'err.headers', 'err.request', 'err.response'],
      censor: '[redacted]'
    }
  }
}
