/** What a model reads as the result of a call that somebody decided against. */
export function denialText (reason: string | undefined): string {
  return reason === undefined ? 'Denied.' : `Denied: ${reason}`
}
