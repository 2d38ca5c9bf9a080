import { askAgent, askModel, callTool, concurrent, defineStepsAgent, prompt } from 'parley'
import { findBook } from './tools/find-book.ts'
import { getTime } from './tools/get-time.ts'

interface Briefing {
  readonly topic: string
  readonly time: unknown
  readonly books: unknown
  readonly request: string
}

const collect = concurrent<Briefing>([
  callTool(getTime, { input: () => ({}), into: (state, time) => ({ ...state, time }) }),
  callTool(findBook, { input: ({ topic }) => ({ query: topic }), into: (state, books) => ({ ...state, books }) }),
  askAgent('extractor', { task: ({ topic }) => topic, show: false, into: (state, request) => ({ ...state, request }) })
], ([first, second, third], before) => ({ ...before, time: first?.time, books: second?.books, request: third?.request ?? '' }))

/** Does the same steps every time: it collects side by side, then writes from what it has. */
export const briefing = defineStepsAgent<Briefing>({
  key: 'briefing',
  name: 'Briefing',
  description: 'Collects the time, books and a reading of the request, and writes a short briefing.',
  agents: ['extractor'],
  initial: ({ question }) => ({ topic: question, time: undefined, books: undefined, request: '' }),
  steps: [
    async function * ({ topic }) {
      yield { type: 'progress', message: 'Collecting', fraction: 0.1 }
      yield `Briefing on: ${topic}`
    },
    collect,
    askModel({
      question: ({ topic, time, books, request }) => ({
        instructions: prompt`
          You write a briefing of three sentences at most.
          Use what was collected and nothing else.
        `,
        messages: `${topic}\n\nCollected: ${JSON.stringify({ books, time, request })}`
      })
    })
  ]
})
