/** What the service is held to. Each says where its figure is, in whole or as what is added to the floor. */
export const targets = [
  { lane: 'burst', label: 'CPU per delta, in floors', of: ({ ratio }) => ratio.cpuUsPerDelta, atMost: 2 },
  { lane: 'paced50', label: 'added milliseconds to the first delta, median', of: added('firstDeltaP50Ms'), atMost: 5 },
  { lane: 'paced50', label: 'added milliseconds to the first delta, 99th percentile', of: added('firstDeltaP99Ms'), atMost: 25 },
  { lane: 'open', label: 'kilobytes per open stream', of: ({ parley }) => parley.kbPerStream, atMost: 60 },
  { lane: 'turn', label: 'CPU milliseconds per stored turn', of: ({ parley }) => parley.cpuMsPerTurn, atMost: 2 },
  { lane: 'crew', label: 'CPU of a turn with four members, in turns of four plain agents', of: ({ parley }) => parley.crewOverPlain, atMost: 1.3 },
  { lane: 'crew', label: 'the same, with all that members say shown', of: ({ parley }) => parley.shownOverPlain, atMost: 1.3 },
  { lane: 'history', label: 'pages of 50 messages per second of one core', of: ({ parley }) => parley.pagesPerSecond, atLeast: 1_000 },
  { lane: 'history', label: 'cost of a page of 10,000 messages, in pages of 50', of: ({ parley }) => parley.shortOverLong, atMost: 1.2 }
]

/** The targets of the lanes that a report has, with what was measured. */
export function judge ({ lanes }) {
  return targets.filter(({ lane }) => lanes[lane] !== undefined).map(({ lane, label, of, atMost, atLeast }) => {
    const value = of(lanes[lane])
    const met = atMost === undefined ? value >= atLeast : value <= atMost
    return { lane, label, value, met, limit: atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}` }
  })
}

function added (figure) {
  return ({ parley, floor }) => parley[figure] - floor[figure]
}
