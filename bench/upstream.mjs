// A model provider for the benchmark: answers chat completions as fast as its model's name says.
//   burst:<deltas>            all deltas at once
//   paced:<deltas>:<everyMs>  the first delta at once, one more every so often
//   delegate:<deltas>         calls every tool it is offered with a task, then says its deltas
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const frame = (delta, finish = null) => `data: ${JSON.stringify({
  id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'bench', system_fingerprint: 'fp_bench',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null
})}\n\n`
const words = Array.from({ length: 64 }, (_, index) => frame({ content: ` word${index}` }))
const first = frame({ role: 'assistant', content: '' })
const ending = (reason) => frame({}, reason) + `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 20, completion_tokens: 200, total_tokens: 220 } })}\n\ndata: [DONE]\n\n`
const [last, lastOfCalls] = [ending('stop'), ending('tool_calls')]

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { model, messages, tools } = JSON.parse(body)
  const [mode, deltas, everyMs] = model.split(':')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(first)
  if (mode === 'delegate' && messages.at(-1).role !== 'tool') {
    tools.forEach(({ function: { name } }, index) => { response.write(frame({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '{"task":"Say something."}' } }] })) })
    response.end(lastOfCalls)
    return
  }
  for (let index = 0; index < Number(deltas) && !response.destroyed; index++) {
    if (mode === 'paced' && index > 0) await sleep(Number(everyMs))
    response.write(words[index % words.length])
  }
  response.end(last)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => { process.send?.({ port: server.address().port }) })
