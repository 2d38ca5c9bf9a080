import { defineTool, z } from 'parley'

export const getTime = defineTool({
  name: 'get_time',
  title: 'Current time',
  description: 'The current date and time, in UTC or in a time zone.',
  input: z.object({ timeZone: z.string().optional().describe('An IANA name such as Europe/Berlin; UTC when left out') }),
  execute: ({ timeZone = 'UTC' }) => {
    const now = new Date()
    try {
      const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone }).format(now)
      return { utc: now.toISOString(), timeZone, local }
    } catch {
      // Intl throws for names it does not know, and for nothing else here.
      return { utc: now.toISOString(), problem: `There is no time zone "${timeZone}".` }
    }
  }
})
