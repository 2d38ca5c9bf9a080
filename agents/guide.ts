import { defineAgent, defineTool, prompt, z } from 'parley'

/** A client tool: without `execute` the run waits until the frontend posts the result. */
const askLocation = defineTool({
  name: 'ask_location',
  title: 'Ask for the location',
  description: "Asks the user's device where it is. The user may refuse.",
  input: z.object({ reason: z.string().describe('Why the location is needed, shown to the user') })
})

/** A tool that is answered by the browser and not by the server. */
export const guide = defineAgent({
  key: 'guide',
  name: 'Local guide',
  description: 'Suggests what to do nearby and asks the device for its location.',
  instructions: prompt`
    You suggest what to do near the user.
    Ask for the location before the first suggestion. When it is refused, ask for the name of a place instead.
  `,
  tools: [askLocation]
})
