// A loader hook: what a test file imports as `tap` is the subtest that was made for the file, so that several files share
// a process and yet each is a test of its own.
export const subtests = 'parley.subtests'

export async function resolve (specifier, context, next) {
  if (specifier !== 'tap' || !context.parentURL?.endsWith('.test.ts')) return await next(specifier, context)
  const source = `export default globalThis[Symbol.for('${subtests}')].get(${JSON.stringify(context.parentURL)})`
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true }
}
