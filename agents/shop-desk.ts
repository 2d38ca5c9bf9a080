import { defineAgent, defineTool, prompt, z } from 'parley'

const products = [
  { name: 'kettle', price: 34.5, inStock: 0, shelf: 'B2' },
  { name: 'lamp', price: 48, inStock: 12, shelf: 'A1' },
  { name: 'rug', price: 120, inStock: 3, shelf: 'D4' }
] as const
// A result and not an exception, so that the model reads what there is and can ask again.
const unknown = { problem: `There is no such product. There are: ${products.map(({ name }) => name).join(', ')}.` }

const checkStock = defineTool({
  name: 'check_stock',
  title: 'Check the stock',
  description: 'How many of a product there are, and on which shelf.',
  input: z.object({ product: z.string() }),
  execute: ({ product }) => {
    const found = findProduct(product)
    return found === undefined ? unknown : { product: found.name, inStock: found.inStock, shelf: found.shelf }
  }
})

const quotePrice = defineTool({
  name: 'quote_price',
  title: 'Quote a price',
  description: 'What a number of a product costs. Three or more are 10 % cheaper.',
  input: z.object({ product: z.string(), count: z.number().int().min(1).max(1000) }),
  execute: ({ product, count }) => {
    const found = findProduct(product)
    return found === undefined ? unknown : { product: found.name, count, total: Math.round(count * found.price * (count < 3 ? 100 : 90)) / 100 }
  }
})

/** A member: not listed, asked by its coordinator only. It has to look before it speaks. */
export const stockClerk = defineAgent({
  key: 'shop-desk.stock',
  name: 'Stock clerk',
  description: 'Knows how many of each product there are and where they stand.',
  instructions: 'You answer one question about the stock, in one sentence, from what check_stock says.',
  tools: [checkStock],
  toolChoice: { tool: 'check_stock' },
  hidden: true
})

export const priceClerk = defineAgent({
  key: 'shop-desk.prices',
  name: 'Price clerk',
  description: 'Quotes the price of a number of a product.',
  instructions: 'You quote one price, in one sentence, from what quote_price says.',
  tools: [quotePrice],
  toolChoice: { tool: 'quote_price' },
  hidden: true
})

/** A crew: a coordinator that knows nothing itself and asks its members, side by side where it can. */
export const shopDesk = defineAgent({
  key: 'shop-desk',
  name: 'Shop desk',
  description: 'Answers customers of a small shop with what its clerks know.',
  instructions: prompt`
    You answer customers of a small shop.

    - Ask the clerks for every fact. Give each the whole question: they do not see this conversation.
    - Ask them at the same time when their answers do not depend on each other.
    - Answer in your own words, and say so when a clerk does not know.
  `,
  agents: [stockClerk, priceClerk]
})

function findProduct (words: string): typeof products[number] | undefined {
  return products.find(({ name }) => words.toLowerCase().includes(name))
}
