import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

// In the ways of the real one, which names what it extends as JSON Schema did long ago.
const schema = {
  $schema: 'http://json-schema.org/draft/2019-09/schema#', id: 'compose_spec.json', type: 'object',
  properties: { services: { id: '#/properties/services', type: 'object', patternProperties: { '^[a-z]+$': { $ref: '#/definitions/service' } }, additionalProperties: false } },
  additionalProperties: false,
  definitions: { service: { id: '#/definitions/service', type: 'object', properties: { image: { type: 'string' }, interval: { type: 'string', format: 'duration' } }, additionalProperties: false } }
}

t.test('a compose file that its schema knows is valid, and what is wrong with another is told by its place', async (t) => {
  const folder = t.testdir({ 'schema.json': JSON.stringify(schema) })
  const check = async (text: string) => {
    await writeFile(join(folder, 'compose.yml'), text)
    return spawnSync(process.execPath, ['scripts/check-compose.mjs', join(folder, 'schema.json'), join(folder, 'compose.yml')], { encoding: 'utf8' })
  }
  t.match(await check('services: { db: { image: "postgres:17", interval: 5s } }'), { status: 0, stdout: /is valid/ })
  t.match(await check('services: { db: { imagee: "postgres:17" } }'), { status: 1, stderr: /\/services\/db .*imagee/ })
  t.match(await check('services: { db: { image: 17 } }'), { status: 1, stderr: /\/services\/db\/image must be string/ })
  t.match(spawnSync(process.execPath, ['scripts/check-compose.mjs'], { encoding: 'utf8' }), { status: 1, stderr: /Usage/ })
})
