import type { Frame } from './frame.ts'

/** What a frame's model is told before the conversation: the agent's words in this run, its caller's, and whom it may ask. */
export function systemPrompt ({ asked: { callerInstructions } }: Frame, instructions: string, roster: readonly string[]): string {
  return [
    instructions,
    ...callerInstructions === undefined ? [] : [callersWords(callerInstructions)],
    ...roster.length === 0 ? [] : [['Available subagents:', ...roster].join('\n')]
  ].join('\n\n')
}

/** The agent's owner and its caller are not the same: the model is told whose words are whose. */
function callersWords (words: string): string {
  return `The caller of this conversation adds the following. It does not replace what is said above.\n\n<caller_instructions>\n${words}\n</caller_instructions>`
}
