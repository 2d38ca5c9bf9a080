// Holds docker-compose.yml against the schema of the Compose specification, whose file is named:
//   node scripts/check-compose.mjs compose_spec.json
// Debian has it in its package docker-compose. Exits with 1 and says what is wrong where.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { parse } from 'yaml'
import { root } from './build-output.mjs'

const [schemaPath, composePath = join(root, 'docker-compose.yml')] = process.argv.slice(2)
if (schemaPath === undefined) {
  console.error('Usage: node scripts/check-compose.mjs <compose_spec.json> [<compose file>]')
  process.exit(1)
}
// Its `id`s only repeat where they stand, by a name that JSON Schema has given up.
const schema = JSON.parse(readFileSync(schemaPath, 'utf8'), (key, value) => key === 'id' && typeof value === 'string' ? undefined : value)
// Its formats are Compose's own, not those of JSON Schema by the same names.
const validate = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false, allErrors: true }).compile(schema)
if (!validate(parse(readFileSync(composePath, 'utf8')))) {
  for (const { instancePath, message, params } of validate.errors ?? []) console.error(`${composePath}: ${instancePath === '' ? '/' : instancePath} ${message} ${JSON.stringify(params)}`)
  process.exit(1)
}
console.log(`${composePath} is valid`)
