/** What a calculation comes to, or what is wrong with it, in words a model can act on. */
export type Calculation = { readonly ok: true, readonly value: number } | { readonly ok: false, readonly problem: string }

const longest = 500

/** Numbers, + - * / % ^ and parentheses, by the usual precedence. Nothing of it is ever run as code. */
export function evaluate (text: string): Calculation {
  const expression = text.trim().replace(/[\s=?!.]+$/, '')
  if (expression.length > longest) return { ok: false, problem: `The expression is longer than ${longest} characters.` }
  try {
    const value = createParser(expression).parse()
    return Number.isFinite(value) ? { ok: true, value } : { ok: false, problem: 'The result is not a finite number.' }
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: error.message }
    throw error
  }
}

interface Parser { parse: () => number }

/** One method per level of precedence; the length of the expression bounds the recursion. */
function createParser (expression: string): Parser {
  const tokens = expression.match(/\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|\*\*|[^\s]/g) ?? []
  let next = 0
  const take = (...wanted: readonly string[]): string | undefined => {
    const token = tokens[next]
    if (token === undefined || !wanted.includes(token)) return undefined
    next++
    return token
  }

  return {
    parse () {
      const value = sum()
      if (next < tokens.length) throw unexpected()
      return value
    }
  }

  function sum (): number {
    let left = product()
    for (let sign = take('+', '-', '−'); sign !== undefined; sign = take('+', '-', '−')) {
      left = sign === '+' ? left + product() : left - product()
    }
    return left
  }

  function product (): number {
    let left = signed()
    for (let sign = take('*', '×', '/', '÷', '%'); sign !== undefined; sign = take('*', '×', '/', '÷', '%')) {
      const right = signed()
      left = sign === '%' ? left % right : sign === '/' || sign === '÷' ? left / right : left * right
    }
    return left
  }

  function signed (): number {
    const sign = take('-', '−', '+')
    return sign === undefined ? power() : sign === '+' ? signed() : -signed()
  }

  // Binds to the right, and tighter than the sign before it: -2^2 is -4.
  function power (): number {
    const base = atom()
    return take('^', '**') === undefined ? base : base ** signed()
  }

  function atom (): number {
    if (take('(') !== undefined) {
      const value = sum()
      if (take(')') === undefined) throw unexpected('a closing parenthesis')
      return value
    }
    const token = tokens[next]
    if (token === undefined || !/^[\d.]/.test(token) || token === '.') throw unexpected('a number')
    next++
    return Number(token)
  }

  function unexpected (wanted = 'an operator'): SyntaxError {
    const token = tokens[next]
    return new SyntaxError(token === undefined ? `The expression ends where ${wanted} was expected.` : `"${token}" stands where ${wanted} was expected.`)
  }
}
