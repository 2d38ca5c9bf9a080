import { defineAgent, defineTool, prompt, z } from 'parley'

const orders = new Map([
  ['1001', { item: 'brass lamp', paid: 48 }],
  ['1002', { item: 'tea towel', paid: 12.5 }]
])

const orderNumber = z.string().regex(/^\d{4}$/).describe('The four digits of the order')

const lookUpOrder = defineTool({
  name: 'look_up_order',
  title: 'Look up an order',
  description: 'What was ordered and what was paid for it.',
  input: z.object({ order: orderNumber }),
  execute: ({ order }) => orders.get(order) ?? { problem: `There is no order ${order}.` }
})

const refundOrder = defineTool({
  name: 'refund_order',
  title: 'Refund an order',
  description: 'Pays back what was paid for an order.',
  // The amount is the order's and not the model's: what somebody allows is what happens.
  input: z.object({ order: orderNumber }),
  needsApproval: ({ order }) => (orders.get(order)?.paid ?? 0) > 20,
  execute: ({ order }) => {
    const paid = orders.get(order)?.paid
    return paid === undefined ? { problem: `There is no order ${order}.` } : { order, refunded: paid }
  }
})

/** Approvals: small refunds are made at once, larger ones wait until somebody allows them. */
export const refunds = defineAgent({
  key: 'refunds',
  name: 'Refunds',
  description: 'Looks up orders and refunds them; more than 20 needs approval.',
  instructions: prompt`
    You handle refunds of a small shop.

    - Refund an order when the customer asks for it and names it.
    - When a refund is denied, say so with the reason, and do not try again.
  `,
  tools: [lookUpOrder, refundOrder]
})
