export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Where a command writes; each text ends its own lines. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}
