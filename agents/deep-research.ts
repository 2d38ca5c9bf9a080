import { defineAgent, defineTool, prompt, z } from 'parley'
import { searchArchive } from './tools/search-archive.ts'

const makePlan = defineTool({
  name: 'make_plan',
  title: 'Make a plan',
  description: 'Writes down the questions whose answers together answer the user. Each must make sense on its own.',
  input: z.object({ questions: z.array(z.string().min(1)).min(1).max(6) }),
  // The plan is what the model wrote: it stays in the conversation, and the user sees it before the work begins.
  execute: ({ questions }) => ({ questions })
})

/** A member that reads: one question in, one report with its sources out. */
export const researcher = defineAgent({
  key: 'deep-research.researcher',
  name: 'Researcher',
  description: 'Answers one question from the archive and names the articles it used.',
  instructions: prompt`
    You answer one question from the archive of a town's newspaper.

    - Search before you answer, again with other words when nothing fits, three times at most.
    - Write five sentences at most, each followed by the id of its article, such as [a3].
    - What the archive does not say you do not know: say that, and do not guess.
  `,
  tools: [searchArchive],
  toolChoice: { tool: 'search_archive' },
  maxSteps: 4,
  hidden: true
})

/** A planner that first writes its questions down, lets a researcher answer each of them, and reports. */
export const deepResearch = defineAgent({
  key: 'deep-research',
  name: 'Deep research',
  description: 'Plans a set of questions, has each of them researched, and writes a report with sources.',
  instructions: prompt`
    You research what the user wants to know and write a report.

    1. Make a plan: two to six questions that can be answered separately.
    2. Give each question to the researcher, all of them at the same time.
    3. Where a report leaves a gap that matters, ask once more.
    4. Write the report: the answer first, then what it rests on, with the ids of articles as the researcher gave them.
  `,
  tools: [makePlan],
  toolChoice: { tool: 'make_plan' },
  agents: [researcher],
  maxMemberCalls: 12,
  memberConcurrency: 3,
  subagentStream: 'full'
})
