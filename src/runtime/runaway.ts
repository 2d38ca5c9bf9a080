import { serialiseOutput } from '../tools/serialise.ts'

/** A call of a step and what became of it. `denied` and `skipped` ones were not run, which is nothing the model did wrong. */
export interface SettledCall {
  readonly toolName: string
  readonly input: unknown
  readonly outcome: 'ok' | 'failed' | 'denied' | 'skipped'
}

export interface RunawayGuard {
  /**
   * Takes the calls of the step that has ended. What comes back is said to the model when it is asked, without tools, for
   * its answer: it goes round in circles. Undefined while it does not.
   */
  readonly observe: (calls: readonly SettledCall[]) => string | undefined
}

const limit = 3

/**
 * Ends a run that goes on without getting anywhere: the same tool fails in three steps one after the other, or three calls
 * one after the other are the same, or three steps. What is called side by side counts once: three dice are no circle, and
 * three failures of one moment no habit.
 */
export function createRunawayGuard (): RunawayGuard {
  let failures = new Map<string, number>()
  const calls = createStreak()
  const steps = createStreak()

  return {
    observe (all) {
      const counted = all.filter(({ outcome }) => outcome === 'ok' || outcome === 'failed')
      if (counted.length === 0) return undefined
      failures = nextFailures(failures, counted)
      const failing = [...failures].find(([, count]) => count >= limit)
      if (failing !== undefined) return answerNow(`The tool "${failing[0]}" has failed in ${limit} steps in a row.`)
      const keys = [...new Set(counted.map(keyOf))]
      const repeats = Math.max(...keys.map(calls), steps(keys.toSorted().join('\n')))
      return repeats >= limit ? answerNow(`You have made the same call ${limit} times in a row.`) : undefined
    }
  }
}

/** In how many steps up to this one each tool has failed without a break; a tool of which one call succeeded works. */
function nextFailures (before: ReadonlyMap<string, number>, calls: readonly SettledCall[]): Map<string, number> {
  const failed = new Set(calls.map(({ toolName }) => toolName))
  for (const { toolName, outcome } of calls) if (outcome === 'ok') failed.delete(toolName)
  return new Map([...failed].map((toolName) => [toolName, (before.get(toolName) ?? 0) + 1]))
}

/** How often in a row it has been given the same. */
function createStreak (): (key: string) => number {
  let last: string | undefined
  let count = 0
  return (key) => {
    count = key === last ? count + 1 : 1
    last = key
    return count
  }
}

/** The same input has the same key, in whatever order its fields come. */
function keyOf ({ toolName, input }: SettledCall): string {
  return `${toolName} ${JSON.stringify(ordered(JSON.parse(serialiseInput(input))))}`
}

function serialiseInput (input: unknown): string {
  return typeof input === 'string' ? JSON.stringify(input) : serialiseOutput(input)
}

function ordered (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, item]) => [key, ordered(item)]))
}

function answerNow (why: string): string {
  return `${why} Tools cannot be called any more. Answer now from what you have gathered, and say what is missing.`
}
