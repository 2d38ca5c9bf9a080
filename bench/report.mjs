// npm run bench:report: writes docs/performance.md from bench/report.json and bench/profile.json.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { judge } from './targets.mjs'

const units = {
  cpuUsPerDelta: 'CPU per delta, µs',
  deltasPerSecond: 'deltas per second',
  firstDeltaP50Ms: 'first delta, median, ms',
  firstDeltaP99Ms: 'first delta, 99th percentile, ms',
  kbPerStream: 'resident memory per stream, KB',
  open: 'streams open',
  cpuMsPerTurn: 'CPU per turn, ms',
  turnsPerSecond: 'turns per second',
  cpuMsPerCrewTurn: 'CPU per turn of a coordinator with four members, ms',
  cpuMsPerShownTurn: 'CPU per such a turn that shows all its members say, ms',
  cpuMsPerFourTurns: 'CPU per four turns, one of each member, ms',
  crewOverPlain: 'crew over plain',
  shownOverPlain: 'shown crew over plain',
  pagesPerSecond: 'pages per second of one core, thread of 50',
  pagesPerSecondLong: 'pages per second of one core, thread of 10,000',
  shortOverLong: 'cost of a page, long over short'
}

const lanes = {
  burst: '16 chats at a time whose model says 200 deltas at once: the cost of a delta when nothing waits',
  paced50: '50 streams, a delta every 20 ms, begun evenly over a second',
  paced200: '200 such streams',
  herd50: '50 such streams begun in the same instant',
  open: '500 streams open and silent',
  turn: '8 stored turns of one delta at a time, four to a thread',
  crew: 'a coordinator that asks four members at once, against the same four asked directly; 200 deltas of each. The two model calls of the coordinator itself are on top',
  history: 'the newest 50 messages of a thread, read by 4 readers'
}

/** The document of a report, to the last character. */
export function performanceDocument (report, profile) {
  const { machine: { cpu, cores, os }, versions, rounds, warmRounds = 1, loadBefore, loadAfter, date } = report
  return `# Performance

Written from \`bench/report.json\` and \`bench/profile.json\` by \`npm run bench:report\`; a test holds the two together.

## Method

\`npm run bench\` starts the built service with its defaults (SQLite in a file, request logs on), a stand-in for a model
provider, a load generator, and **the floor**: forty lines of node:http that read the same provider and write the same
chunks, with no framework, no checks, no persistence and no resume. The service and the floor take turns; figures are
medians of ${rounds} rounds after ${warmRounds} that ${warmRounds === 1 ? 'is' : 'are'} not counted, because at
first the compiler takes as much as the work. CPU is what the process used by /proc, so a busy machine disturbs it less than times; ratios to the floor carry over to other machines, absolute figures do not.

Options: \`npm run bench -- --rounds=5 --only=burst,turn --json=bench/report.json\`. \`BENCH_DATABASE_URL\` measures another database.
The command ends with status 2 when a target is missed.

## Last report

${date.slice(0, 10)}, ${cores} cores of ${cpu}, ${os}, load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after.
${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}.

| target | limit | measured | |
|---|---|---|---|
${judge(report).map(({ lane, label, limit, value, met }) => `| ${lane}: ${label} | ${limit} | ${figure(value)} | ${met ? 'met' : '**missed**'} |`).join('\n')}

${Object.entries(report.lanes).map(([name, lane]) => section(name, lane)).join('\n\n')}

## What still costs most

From a profile of ${profile.date.slice(0, 10)} with ${profile.node}: the lane ${profile.lane} once it is warm, by the time spent in
functions themselves. \`npm run bench:profile\` makes it anew (\`bench/profile.json\`).

| area | share | most of it |
|---|---|---|
${profile.areas.map(({ area, share, functions }) => `| ${area} | ${percent(share)} | ${functions.map(({ name, share }) => `\`${name}\` ${percent(share)}`).join(', ')} |`).join('\n')}
`
}

function percent (share) {
  return `${(share * 100).toFixed(1)} %`
}

function section (name, { parley, floor, ratio }) {
  const rows = Object.entries(parley).map(([key, value]) => `| ${units[key]} | ${figure(value)} |${floor === undefined ? '' : ` ${figure(floor[key])} | ${figure(ratio[key])} |`}`)
  const head = floor === undefined ? '| | service |\n|---|---|' : '| | service | floor | ratio |\n|---|---|---|---|'
  return `### ${name}\n\n${lanes[name]}.\n\n${head}\n${rows.join('\n')}`
}

function figure (value) {
  if (value === null) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [report, profile] = ['report.json', 'profile.json'].map((name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')))
  writeFileSync(new URL('../docs/performance.md', import.meta.url), performanceDocument(report, profile))
}
