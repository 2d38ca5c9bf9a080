import t from 'tap'
import { estimateInput, estimateMessage, estimateTokens, estimateUsage } from '../../../src/models/estimate.ts'
import type { ModelRequest } from '../../../src/models/model.ts'

const request: ModelRequest = { instructions: '', messages: [], tools: [], toolChoice: 'auto', settings: {} }

/** Counted with the tokenizers o200k_base and cl100k_base, the larger of the two. */
const counted: ReadonlyArray<{ name: string, text: string, tokens: number }> = [
  { name: 'English', text: 'The run loop asks the model, shows what it says, runs the tools it asked for and goes round until it stops or a limit does. Budgets are consulted before every call.', tokens: 37 },
  { name: 'French', text: 'La boucle interroge le modèle, montre ce qu’il dit, exécute les outils demandés et recommence jusqu’à ce qu’il s’arrête.', tokens: 37 },
  { name: 'Russian', text: 'Цикл спрашивает модель, показывает её ответ, запускает инструменты и продолжает, пока она не остановится.', tokens: 42 },
  { name: 'Chinese', text: '循环询问模型，显示它所说的内容，运行它请求的工具，然后继续，直到它停止或达到限制。', tokens: 44 },
  { name: 'Korean', text: '루프는 모델에게 묻고, 말하는 것을 보여 주며, 요청한 도구를 실행하고 멈출 때까지 반복합니다.', tokens: 48 }
]

for (const { name, text, tokens } of counted) {
  t.test(`the tokens of ${name} are estimated within a third`, async (t) => {
    const estimated = estimateTokens(text)
    t.ok(estimated > tokens * 0.67 && estimated < tokens * 1.4, `${estimated} for ${tokens}`)
  })
}

t.test('everything that a request is made of counts', async (t) => {
  const bare = estimateInput(request)
  const more: Array<Partial<ModelRequest>> = [
    { instructions: 'Help.' },
    { messages: [{ role: 'user', content: 'x' }] },
    { tools: [{ name: 'a', description: 'b', parameters: {} }] },
    { responseSchema: { type: 'object' } }
  ]
  for (const part of more) t.ok(estimateInput({ ...request, ...part }) > bare, Object.keys(part).join())
})

t.test('everything that a message is made of counts', async (t) => {
  const answer = { role: 'assistant', text: 'yes', toolCalls: [] } as const
  const least = estimateMessage(answer)
  t.ok(estimateMessage({ ...answer, toolCalls: [{ callId: 'c', toolName: 'find', arguments: '{"n":1}' }] }) > least)
  t.ok(estimateMessage({ ...answer, reasoning: [{ model: 'm', itemId: 'i', encryptedContent: 'x'.repeat(400), text: '' }] }) >= least + 100)
  t.ok(estimateMessage({ role: 'user', content: '', images: [{ mediaType: 'image/png', base64: '' }] }) > 700)
  t.ok(estimateMessage({ role: 'tool', callId: 'c', toolName: 'find', content: 'x'.repeat(400) }) >= 100)
  t.ok(estimateMessage({ role: 'user', content: '' }) > 0, 'an empty one too')
})

t.test('usage that nobody told is the request and what was said', async (t) => {
  t.strictSame(estimateUsage({ ...request, instructions: 'abcd' }, 9), { input: 1, output: 3, reasoning: 0, cachedRead: 0, cacheWrite: 0 })
})
