import t from 'tap'
import { estimateUsage } from '../../../src/models/estimate.ts'
import type { ModelRequest } from '../../../src/models/model.ts'
import { chatRequest } from '../../../src/models/openai-chat-request.ts'
import { initialDialect } from '../../../src/models/openai-dialect.ts'
import { initialResponsesDialect } from '../../../src/models/openai-responses-dialect.ts'
import { responsesRequest } from '../../../src/models/openai-responses-request.ts'

const image = { mediaType: 'image/png', base64: 'AA==' }
const ask = (content: string): ModelRequest => ({ instructions: '', messages: [{ role: 'user', content, images: [image] }], tools: [], toolChoice: 'auto', settings: {} })
const url = 'data:image/png;base64,AA=='

t.test('chat completions are given an image after the text, as its pixels', async (t) => {
  const content = (text: string) => chatRequest('m', ask(text), initialDialect('https://api.example.com/v1')).messages[0]?.content
  t.strictSame(content('See'), [{ type: 'text', text: 'See' }, { type: 'image_url', image_url: { url } }])
  t.strictSame(content(''), [{ type: 'image_url', image_url: { url } }])
})

t.test('the Responses API is given an image after the text, as its pixels', async (t) => {
  const content = (text: string) => responsesRequest({ id: 'test:m', modelName: 'm' }, ask(text), initialResponsesDialect()).input
  t.strictSame(content('See'), [{ role: 'user', content: [{ type: 'input_text', text: 'See' }, { type: 'input_image', detail: 'auto', image_url: url }] }])
  t.strictSame(content(''), [{ role: 'user', content: [{ type: 'input_image', detail: 'auto', image_url: url }] }])
})

t.test('an image counts where usage is estimated', async (t) => {
  t.ok(estimateUsage(ask('See'), 0).input > 700)
})
