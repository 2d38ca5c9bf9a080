/** What a provider of tools throws when it has none to give. The user is told both; the cause is for the log. */
export class ToolsUnavailable extends Error {
  /** Which source of tools it is, as the configuration names it. */
  readonly stage: string
  readonly detail: string

  constructor (stage: string, detail: string, options?: ErrorOptions) {
    super(`${stage}: ${detail}`, options)
    this.name = 'ToolsUnavailable'
    this.stage = stage
    this.detail = detail
  }
}
