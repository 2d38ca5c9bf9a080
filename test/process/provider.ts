import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startUpstream } from '../helpers/upstream.ts'

export interface SlowProvider {
  /** What a service in another process needs to answer with it. */
  readonly env: Readonly<Record<string, string>>
  /** When each word of the long answer was sent. */
  readonly sentAt: readonly number[]
  /** Lets the long answers end. */
  finish: () => void
}

/** The files of a deployment whose one agent asks the provider and nothing else. */
export const oneAgent = { 'parley.config.json': JSON.stringify({ agents: [{ key: 'tester', titleGeneration: false }], defaultAgent: 'tester' }) }

/**
 * A provider that answers "long" with numbered words, one every few milliseconds until the test lets it end, and
 * everything else with "short answer".
 */
export async function slowProvider (t: Test, { everyMs = 5 }: { everyMs?: number } = {}): Promise<SlowProvider> {
  const sentAt: number[] = []
  const end = new AbortController()
  const { baseURL } = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const asked = JSON.parse(body).messages.at(-1).content as string
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (asked.includes('long')) await speak(response)
    else say(response, 'short answer')
    say(response, undefined)
    response.end('data: [DONE]\n\n')
  })
  return { env: { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: 'test-key', LOG_LEVEL: 'info' }, sentAt, finish: () => { end.abort() } }

  async function speak (response: ServerResponse): Promise<void> {
    const closed = once(response, 'close')
    while (!end.signal.aborted && !response.destroyed) {
      say(response, wordOf(sentAt.push(Date.now()) - 1))
      await Promise.race([new Promise((resolve) => { setTimeout(resolve, everyMs) }), closed])
    }
  }
}

export function wordOf (index: number): string {
  return `w${index} `
}

function say (response: ServerResponse, content: string | undefined): void {
  const choice = content === undefined ? { index: 0, delta: {}, finish_reason: 'stop' } : { index: 0, delta: { content }, finish_reason: null }
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [choice] })}\n\n`)
}
