// Far below what one token costs, and far above the error of the arithmetic: sums print as the decimals they are.
const stepsPerUsd = 1e12

/** An amount of US dollars without the last digits' noise of its arithmetic. */
export function roundUsd (usd: number): number {
  return Math.round(usd * stepsPerUsd) / stepsPerUsd
}

/** What two things cost together, in US dollars: known only where both are, since the known one alone would be too little. */
export function addCost (a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : roundUsd(a + b)
}

/** What all calls cost together; undefined where one is not known, and where there are none. */
export function totalCost (costs: ReadonlyArray<number | undefined>): number | undefined {
  return costs.length === 0 ? undefined : costs.reduce(addCost, 0)
}
