import { domains, type Domain } from '../auth/operation.ts'
import type { Permission } from '../auth/permission.ts'
import { permissionListSchema } from '../auth/permission-entry.ts'
import type { PermissionLists } from '../auth/permissions.ts'
import { isOwner } from '../auth/shipped-permissions.ts'
import type { Report } from './check-config.ts'
import { issueReasons } from './faults.ts'
import { didYouMean } from './suggest.ts'

/** The lists of a configuration, by domain; what is wrong with one is reported. */
export function checkPermissions (permissions: Readonly<Record<string, unknown>>, report: Report): Partial<PermissionLists> {
  const lists: Partial<Record<Domain, readonly Permission[]>> = {}
  for (const [name, value] of Object.entries(permissions)) {
    const domain = domains.find((known) => known === name)
    if (domain === undefined) {
      report('permissions', `unknown domain "${name}".${didYouMean(name, domains)}`)
      continue
    }
    const parsed = permissionListSchema.safeParse(value)
    const problems = parsed.success ? problemsOf(domain, parsed.data) : issueReasons(parsed.error.issues, [])
    for (const problem of problems) reportAt(`permissions.${domain}`, problem, report)
    if (parsed.success) lists[domain] = parsed.data
  }
  return lists
}

/** What nobody could pass: agents of a configuration and integrations are nobody's. */
export function ownerlessProblems (what: string, permissions: readonly Permission[] = []): string[] {
  return permissions.flatMap((permission, index) => permission === isOwner ? [`[${index}]: ${what} have no owner, so isOwner would close them to everybody`] : [])
}

/** With the place in the list in the name of the entry. */
function reportAt (entry: string, problem: string, report: Report): void {
  const [, index = '', reason = problem] = /^(\[\d+\]): (.*)$/s.exec(problem) ?? []
  report(`${entry}${index}`, reason)
}

function problemsOf (domain: Domain, permissions: readonly Permission[]): string[] {
  if (domain === 'agent' || domain === 'integration') return ownerlessProblems(`${domain}s`, permissions)
  return permissions.flatMap(({ filter }, index) => filter === undefined ? [`[${index}]: a function alone cannot say what a list shows; make it with definePermission({ filter, check })`] : [])
}
