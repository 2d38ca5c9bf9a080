import { defineTool, z } from 'parley'

const articles = [
  { id: 'a1', year: 1871, title: 'The lighthouse is lit', text: 'The lighthouse of Harrow Bay was lit on 4 March 1871. It took 212 men three summers to build.' },
  { id: 'a2', year: 1904, title: 'No more oil', text: 'Since this week the lamp of the lighthouse burns gas. The keeper had carried oil up 143 steps every evening.' },
  { id: 'a3', year: 1922, title: 'Tides in the market', text: 'Spring tides of six metres put the fish market under water for the second time since 1910. A wall is planned.' },
  { id: 'a4', year: 1926, title: 'A wall against the tides', text: 'The harbour wall is finished. It stands seven metres above low water and has kept two spring tides out.' },
  { id: 'a5', year: 1953, title: 'Fog bell replaced', text: 'The fog bell of the pier, rung by hand for sixty years, has given way to a horn that is heard five miles out.' }
] as const

/** Too common to tell one article from another. */
const common: ReadonlySet<string> = new Set(['about', 'and', 'did', 'for', 'how', 'that', 'the', 'was', 'were', 'what', 'when', 'where', 'which', 'who', 'why', 'with'])

export const searchArchive = defineTool({
  name: 'search_archive',
  title: 'Search the archive',
  description: 'Finds articles of a local newspaper by words of their title and text, the best first.',
  input: z.object({ query: z.string().min(1).describe('A few telling words') }),
  execute: ({ query }) => {
    const words = (query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => !common.has(word))
    const found = articles
      .map((article) => ({ article, score: words.filter((word) => `${article.title} ${article.text}`.toLowerCase().includes(word)).length }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
    return { query, articles: found.slice(0, 3).map(({ article }) => article) }
  }
})
