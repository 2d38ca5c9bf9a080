import { defineTool, z } from 'parley'
import { evaluate } from './arithmetic.ts'

export const calculate = defineTool({
  name: 'calculate',
  title: 'Calculate',
  description: 'Works out an arithmetic expression of numbers, + - * / % ^ and parentheses.',
  input: z.object({ expression: z.string().describe('The expression, for example (2 + 3) * 4') }),
  // A problem is a result and not an exception, so that the model can mend its expression.
  execute: ({ expression }) => {
    const result = evaluate(expression)
    return result.ok ? { expression, value: result.value } : { expression, problem: result.problem }
  }
})
