import t from 'tap'
import { outputOf, toolResultSchema } from '../../../../src/tools/mcp/tool-result.ts'

const picture = Buffer.from('picture').toString('base64')

const cases: readonly { readonly name: string, readonly result: unknown, readonly output: unknown }[] = [
  { name: 'text', result: { content: [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }] }, output: 'one\ntwo' },
  { name: 'structured content, whatever stands beside it', result: { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }, output: { a: 1 } },
  { name: 'structured content that is empty', result: { content: [{ type: 'text', text: 'x' }], structuredContent: {} }, output: {} },
  { name: 'an image', result: { content: [{ type: 'image', data: picture, mimeType: 'image/png' }] }, output: '[image image/png, 7 bytes]' },
  { name: 'a sound', result: { content: [{ type: 'audio', data: picture, mimeType: 'audio/wav' }] }, output: '[audio audio/wav, 7 bytes]' },
  { name: 'a link', result: { content: [{ type: 'resource_link', uri: 'demo://one', name: 'One', mimeType: 'text/plain' }] }, output: '[resource One text/plain: demo://one]' },
  { name: 'a text', result: { content: [{ type: 'resource', resource: { uri: 'demo://one', mimeType: 'text/plain', text: 'what it says' } }] }, output: '[resource text/plain: demo://one]\nwhat it says' },
  { name: 'a file', result: { content: [{ type: 'resource', resource: { uri: 'demo://one', blob: picture } }] }, output: '[resource, 7 bytes: demo://one]' },
  { name: 'a file in its address', result: { content: [{ type: 'resource_link', uri: `data:image/png;base64,${'A'.repeat(10_000)}`, name: 'One' }] }, output: `[resource One: data:image/png;base64,${'A'.repeat(478)}...]` },
  { name: 'what is not known', result: { content: [{ type: 'hologram' }, { type: 'text', text: 'and text' }, null] }, output: '[content of an unknown kind]\nand text\n[content of an unknown kind]' },
  { name: 'nothing', result: {}, output: '' },
  { name: 'what is no content', result: { content: 'text', structuredContent: [1], isError: 'no' }, output: '' }
]

for (const { name, result, output } of cases) {
  t.test(`a result of ${name} is ${typeof output === 'string' ? 'text' : 'an object'} for the model`, async (t) => {
    t.strictSame(outputOf(toolResultSchema.parse(result)), output)
  })
}
