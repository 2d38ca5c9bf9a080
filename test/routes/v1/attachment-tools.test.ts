import t from 'tap'
import type { AttachmentToolsHook } from '../../../src/agents/hooks.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { post, textIn } from '../../helpers/app.ts'
import { toolCall } from '../../helpers/scripted-model.ts'
import { startUploadService, textFile, uploaded, type UploadService } from '../../helpers/uploads.ts'

const own = defineTool({ name: 'own', execute: () => 'own' })
const readers: AttachmentToolsHook = (files, _context, tools) => [...tools, defineTool({ name: 'read_all', execute: () => files.map(({ name, text }) => `${name}: ${text}`).join('\n') })]

const sender = (service: UploadService, threadId: string) => async (text: string, file?: File) => {
  const parts = file === undefined ? [] : [{ type: 'file', mediaType: 'text/plain', url: (await uploaded(service, threadId, file)).url }]
  return await post(`${service.url}/v1/threads/${threadId}/messages`, { message: { role: 'user', parts: [{ type: 'text', text }, ...parts] } })
}
const offered = ({ model }: UploadService) => model.requests.at(-1)?.tools.map(({ name }) => name)

t.test('an agent has tools for the files of its conversation, in later turns too, and none where there are none', async (t) => {
  const asked: Array<Parameters<AttachmentToolsHook>> = []
  const attachmentTools: AttachmentToolsHook = (...given) => { asked.push(given); return readers(...given) }
  const service = await startUploadService(t, {
    agents: [{ key: 'reader', fileUpload: true, tools: [own], attachmentTools }],
    responses: [['No file.'], toolCall('c1', 'read_all'), ['One.'], toolCall('c2', 'read_all'), ['Two.'], ['Still two.']]
  })
  const threadId = await service.newThread()
  const send = sender(service, threadId)
  await send('Hi')
  t.strictSame([offered(service), asked.length], [['own'], 0])

  t.match((await send('Read', textFile('b.txt', 'Bee'))).chunks.find(({ type }) => type === 'tool-output-available'), { output: 'b.txt: Bee' })
  t.match((await send('Read both', textFile('a.txt', 'Ay'))).chunks.find(({ type }) => type === 'tool-output-available'), { output: 'b.txt: Bee\na.txt: Ay' }, 'in the order of the conversation')
  await send('And now?')
  t.strictSame(offered(service), ['own', 'read_all'])
  t.equal(asked.length, 3, 'asked once a turn')
  t.match(asked[0], [[{ id: String, name: 'b.txt', mediaType: 'text/plain', size: 3, status: 'completed', text: 'Bee' }], { threadId, principal: { userId: 'anonymous' }, agentPath: [] }, []])
  t.notOk(service.model.requests.some(({ messages }) => JSON.stringify(messages).includes('No such tool')))
})

t.test('a tool for files may be required, and is not where there are none', async (t) => {
  const service = await startUploadService(t, { agents: [{ key: 'reader', fileUpload: true, requiredTools: ['read_all'], attachmentTools: readers }], responses: [['At once.'], ['Too early.'], toolCall('c1', 'read_all'), ['Late.']] })
  const send = sender(service, await service.newThread())
  t.equal(textIn(await send('Hi')), 'At once.')
  t.equal(textIn(await send('Read', textFile('a.txt', 'Ay'))), 'Late.')
})

t.test('a hook that fails costs its tools, and the user is told', async (t) => {
  const faulty: AttachmentToolsHook[] = [() => { throw new Error('SECRET') }, async () => { throw new Error('SECRET') }, () => [{ name: 'no tool' }] as never, () => undefined as never]
  const service = await startUploadService(t, { agents: faulty.map((attachmentTools, index) => ({ key: `faulty${index}`, fileUpload: true, tools: [own], attachmentTools })) })
  for (const index of faulty.keys()) {
    const { chunks, body } = await sender(service, await service.newThread(`faulty${index}`))('Read', textFile('a.txt', 'Ay'))
    t.strictSame(chunks.filter(({ type }) => type === 'data-unavailable'), [{ type: 'data-unavailable', data: { stage: 'attachments', detail: 'Tools for the files of this conversation are not available right now.' }, transient: true }])
    t.equal(textIn({ chunks }), 'Fine')
    t.strictSame(offered(service), ['own'])
    t.notMatch(body, /SECRET/)
  }
})
