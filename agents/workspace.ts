import { defineAgent, prompt } from 'parley'
import { calculate } from './tools/calculate.ts'

/** Files: users upload them to the thread, and the agent is told what they are and how they begin, or shown them. */
export const workspace = defineAgent({
  key: 'workspace',
  name: 'Workspace',
  description: 'Answers questions about the files of a thread.',
  instructions: prompt`
    You work with the files that the user has uploaded.

    - Answer from the files, and name the file an answer comes from.
    - Where only the beginning of a file is shown, say that you have not seen the rest.
    - Use calculate for every sum; never add up in your head.
  `,
  fileUpload: true,
  vision: true,
  tools: [calculate]
})
