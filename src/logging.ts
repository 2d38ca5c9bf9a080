import { destination, stdSerializers, type DestinationStream, type LoggerOptions } from 'pino'
import type { Config } from './config.ts'

/** JSON lines without secrets: no header that carries one is logged, and no body ever is. */
export function loggerOptions ({ logLevel }: Pick<Config, 'logLevel'>): LoggerOptions {
  return {
    level: logLevel,
    serializers: { err: readableError },
    redact: {
      paths: ['req.headers.authorization', 'req.headers["x-api-key"]', 'req.headers.cookie', '*.apiKey', '*.headers.authorization', 'err.config', 'err.headers', 'err.request', 'err.response'],
      censor: '[redacted]'
    }
  }
}

/**
 * Standard output, several lines a write: a write for every request would cost more than the line. A line waits for
 * 100 ms at most; what waits is written when the process exits, and at once after a fatal line.
 */
export function openLogOutput (): DestinationStream {
  return destination({ dest: 1, sync: false, minLength: 12_288, periodicFlush: 100 })
}

/** pino marks what it reads, and a tool may throw what cannot be marked or read: a log line must never throw in turn. */
function readableError (error: Error): unknown {
  try {
    return stdSerializers.err(error)
  } catch {
    try {
      return { type: error.name, message: error.message, stack: error.stack }
    } catch {
      return { type: 'unreadable' }
    }
  }
}
