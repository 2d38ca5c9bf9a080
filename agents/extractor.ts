import { defineAgent, prompt, z } from 'parley'

const request = z.object({
  summary: z.string().describe('The request in one sentence'),
  category: z.enum(['question', 'complaint', 'order', 'other']),
  urgency: z.enum(['low', 'normal', 'high']),
  people: z.array(z.string()).describe('Names of the people that are mentioned'),
  amounts: z.array(z.number()).describe('Numbers that are mentioned, in order')
})

/** Structured extraction: a headless run answers with one object of this shape. */
export const extractor = defineAgent({
  key: 'extractor',
  name: 'Extractor',
  description: 'Turns a message of a customer into a structured request.',
  instructions: prompt`
    You read one message of a customer and return what it asks for as an object of the given shape.
    Take everything from the message. Leave a list empty rather than inventing an item.
  `,
  responseFormat: request,
  modelSettings: { temperature: 0 },
  titleGeneration: false
})
