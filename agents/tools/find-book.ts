import { defineTool, z } from 'parley'

const shelves = [
  { title: 'The Tides of Harrow Bay', author: 'Ines Calloway', subject: 'seafaring', shelf: 'A3' },
  { title: 'A Field Guide to Quiet Machines', author: 'Tomas Reuel', subject: 'engineering', shelf: 'C1' },
  { title: 'Gardens without Rain', author: 'Mara Oduya', subject: 'gardening', shelf: 'B2' },
  { title: 'Letters from the Observatory', author: 'Ines Calloway', subject: 'astronomy', shelf: 'D4' },
  { title: 'Bread, Salt and Patience', author: 'Pavel Lindqvist', subject: 'cooking', shelf: 'B5' }
] as const

export const findBook = defineTool({
  name: 'find_book',
  title: 'Find a book',
  description: 'Looks for books of the library by words of their title, author or subject.',
  input: z.object({ query: z.string().min(1).describe('Words of the title, the author or the subject') }),
  execute: ({ query }) => {
    const words = query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
    const books = shelves.filter(({ title, author, subject }) => {
      const text = `${title} ${author} ${subject}`.toLowerCase()
      return words.some((word) => text.includes(word))
    })
    return { query, found: books.length, books }
  }
})
