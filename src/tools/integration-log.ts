/** Where integrations tell what happens to them; a pino logger is one. Fields first, constant message second. */
export interface IntegrationLog {
  readonly debug: (fields: object, message: string) => void
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
}

export const silent: IntegrationLog = { debug: () => {}, info: () => {}, warn: () => {} }
