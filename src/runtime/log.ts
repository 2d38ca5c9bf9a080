/** The few levels the runtime logs at; a pino logger is one. Fields first, constant message second. */
export interface RunLogger {
  debug: (fields: object, message: string) => void
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
  error: (fields: object, message: string) => void
  /** The same log, with these fields on every line. */
  child: (fields: object) => RunLogger
}
