import t from 'tap'
import { didYouMean } from '../../../src/agents/suggest.ts'

const known = ['model', 'tools', 'maxSteps', 'instructions']

t.test('a name that is nearly right leads to the one that was meant', async (t) => {
  for (const [typo, meant] of [['modle', 'model'], ['tool', 'tools'], ['maxsteps', 'maxSteps'], ['instuctions', 'instructions'], ['max_steps', 'maxSteps']] as const) {
    t.equal(didYouMean(typo, known), ` Did you mean "${meant}"?`, typo)
  }
})

t.test('a name that is like none of them leads nowhere', async (t) => {
  for (const name of ['colour', 'x', '']) t.equal(didYouMean(name, known), '', name)
  t.equal(didYouMean('model', []), '')
})
