import { defineAgent, prompt } from 'parley'
import { calculate } from './tools/calculate.ts'
import { getTime } from './tools/get-time.ts'
import { rollDice } from './tools/roll-dice.ts'

/** Basic chat with tools that run on the server. */
export const assistant = defineAgent({
  key: 'assistant',
  name: 'Assistant',
  description: 'Answers questions, tells the time, calculates and rolls dice.',
  instructions: prompt`
    You are a helpful assistant.

    - Answer briefly, in the language of the question.
    - Use a tool for the time, for arithmetic and for dice; never guess what a tool can tell.
    - Say so when you do not know something.
  `,
  tools: [getTime, calculate, rollDice]
})
