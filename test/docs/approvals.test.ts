import { readFile } from 'node:fs/promises'
import t from 'tap'

t.test('docs/approvals.md says that approval is not containment, and what tools must do besides', async (t) => {
  const page = await readFile('docs/approvals.md', 'utf8')
  const section = /## What approval is not\n(.*)$/s.exec(page)?.[1] ?? ''
  for (const words of ['Approval is not containment', 'one folder and nothing outside', 'a list of what may be run', 'abort signal', /output\s+that is capped and kept apart/, "environment without the service's secrets"]) t.match(section, words)
})
