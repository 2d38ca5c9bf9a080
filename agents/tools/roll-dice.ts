import { randomInt } from 'node:crypto'
import { defineTool, z } from 'parley'

export const rollDice = defineTool({
  name: 'roll_dice',
  title: 'Roll dice',
  description: 'Rolls one or more dice and adds them up.',
  input: z.object({
    count: z.number().int().min(1).max(100).default(1).describe('How many dice'),
    sides: z.number().int().min(2).max(1000).default(6).describe('How many sides each of them has')
  }),
  execute: ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1))
    return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) }
  }
})
