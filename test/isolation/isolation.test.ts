import t, { type Test } from 'tap'
import { availableProviders } from '../helpers/databases.ts'
import { newThreadBodies, publicRoutes, routeCases, type Ids } from './cases.ts'
import type { Route } from './routes.ts'
import { buildWorld, type Answer } from './world.ts'

const nobodys: Ids = { threadId: 'thread-of-nobody', messageId: '00000000-0000-7000-8000-000000000001', runId: '00000000-0000-7000-8000-000000000002', fileId: '00000000-0000-7000-8000-000000000003', approvalId: '00000000-0000-7000-8000-000000000004', runtimeAgentId: '00000000-0000-7000-8000-000000000005' }

for (const { provider, skip } of await availableProviders()) {
  t.test(`every route is closed to strangers, on ${provider}`, { skip }, async (t) => {
    const world = await buildWorld(t, provider)
    const { ask, ada, strangers, carol, eve, adas, ownThread } = world
    const routes = world.routes.filter(({ url }) => !publicRoutes.some((open) => open.test(url)))
    const readable = routes.filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
    const before = await world.snapshot()
    let cases = 0

    await t.test('each has a case here', async (t) => {
      t.ok(readable.length >= 20, 'routes are found')
      t.strictSame(readable.map(nameOf).filter((name) => routeCases[name] === undefined), [], 'add it to cases.ts')
    })

    await t.test('without credentials, or with wrong ones, each is 401', async (t) => {
      for (const route of routes) {
        for (const caller of [undefined, { ...ada, headers: { authorization: 'Bearer wrong' } }]) {
          const answer = await ask(caller, route.method, pathOf(route, adas[0] ?? nobodys))
          cases++
          t.equal(answer.statusCode, 401, `${nameOf(route)} ${caller === undefined ? 'without' : 'with wrong'} credentials`)
        }
      }
    })

    await t.test('what belongs to another looks as if it did not exist', async (t) => {
      for (const route of readable.filter((route) => routeCases[nameOf(route)]?.stranger !== 'own')) {
        const isTenants = routeCases[nameOf(route)]?.stranger === 'tenant'
        for (const stranger of strangers.filter(({ tenant }) => !isTenants || tenant !== ada.tenant)) {
          for (const ids of adas) {
            const [known, unknown] = [bodiesOf(route, ids), bodiesOf(route, nobodys)]
            for (const [index, body] of known.entries()) {
              const answer = await ask(stranger, route.method, pathOf(route, ids), body)
              cases++
              sameAsMissing(t, route, answer, await ask(stranger, route.method, pathOf(route, nobodys), unknown[index]))
            }
          }
        }
      }
    })

    await t.test('a message or a file of another is not in an own thread, on the routes that name both', async (t) => {
      for (const route of readable.filter(({ url }) => url.includes(':threadId') && /:messageId|:fileId/.test(url))) {
        for (const stranger of strangers) {
          const threadId = ownThread(stranger)
          for (const { messageId, fileId } of adas) {
            for (const body of bodiesOf(route, nobodys)) {
              const answer = await ask(stranger, route.method, pathOf(route, { ...nobodys, threadId, messageId, fileId }), body)
              cases++
              sameAsMissing(t, route, answer, await ask(stranger, route.method, pathOf(route, { ...nobodys, threadId }), body))
            }
          }
        }
      }
      for (const stranger of strangers) {
        for (const { messageId } of adas) {
          cases += 2
          t.equal((await ask(stranger, 'PATCH', `/v1/threads/${ownThread(stranger)}`, { headId: messageId })).statusCode, 404, 'as a head')
          t.equal((await ask(stranger, 'POST', `/v1/threads/${ownThread(stranger)}/messages`, { trigger: 'regenerate-message', messageId })).statusCode, 404, 'to be written again')
        }
      }
    })

    await t.test('the id of another\'s thread is free for an own one, which holds nothing of the other\'s', async (t) => {
      for (const route of readable.filter((route) => routeCases[nameOf(route)]?.stranger === 'own' || nameOf(route) === 'POST /v1/threads/:threadId/messages')) {
        const makes = nameOf(route) === 'POST /v1/threads/:threadId/messages'
        for (const stranger of strangers) {
          for (const ids of adas) {
            for (const body of makes ? newThreadBodies : bodiesOf(route, ids)) {
              const answer = await ask(stranger, route.method, pathOf(route, ids), body)
              cases++
              t.ok(answer.statusCode < 300, `${nameOf(route)}: ${answer.statusCode} ${answer.body.slice(0, 200)}`)
              t.notMatch(answer.body, stranger.tenant === ada.tenant ? /ADAS-/ : /ADAS-|NORTHS-/, nameOf(route))
              await ask(stranger, 'DELETE', `/v1/threads/${ids.threadId}`)
            }
          }
        }
      }
    })

    await t.test('what a caller may see and not do is refused, by the name of what is not allowed', async (t) => {
      for (const route of readable) {
        const asks = routeCases[nameOf(route)]?.asks
        for (const ids of adas) {
          for (const body of [...bodiesOf(route, ids), ...nameOf(route) === 'POST /v1/threads/:threadId/messages' ? newThreadBodies : []]) {
            // The events of a run end with it.
            if (route.url.endsWith('/events') && ids.threadId === 'adas-live') continue
            if (/stream$/.test(route.url) && ids.threadId === 'adas-live') continue
            const answer = await ask(carol, route.method, pathOf(route, ids), body)
            cases++
            if (asks === undefined || asks === 'view_agent' || asks === 'view_thread') t.ok(answer.statusCode < 300, `${nameOf(route)}: ${answer.statusCode} ${answer.body.slice(0, 200)}`)
            else refused(t, route, answer, asks)
          }
        }
      }
    })

    await t.test('what may be seen by such a caller is still their own tenant\'s', async (t) => {
      for (const route of readable.filter((route) => routeCases[nameOf(route)]?.stranger !== 'own')) {
        for (const ids of adas) {
          const [known, unknown] = [bodiesOf(route, ids), bodiesOf(route, nobodys)]
          for (const [index, body] of known.entries()) {
            const answer = await ask(eve, route.method, pathOf(route, ids), body)
            cases++
            t.strictSame(comparable(answer), comparable(await ask(eve, route.method, pathOf(route, nobodys), unknown[index])), nameOf(route))
            t.notMatch(answer.body, /ADAS-|NORTHS-/, nameOf(route))
          }
        }
      }
    })

    t.strictSame(await world.snapshot(), before, 'nothing of the owner\'s has changed')
    t.match((await ask(ada, 'POST', '/v1/threads/adas-live/stop')).json(), { runId: adas[1]?.runId }, 'and what ran still runs')
    t.comment(`${provider}: ${routes.length} routes, ${cases} cases`)
  })
}

/** Clients of OpenAI read errors without details. */
function refused (t: Test, route: Route, answer: Answer, operation: string): void {
  t.equal(answer.statusCode, 403, `${nameOf(route)}: ${answer.body.slice(0, 200)}`)
  t.match(answer.json(), route.url === '/v1/chat/completions' ? { error: { code: 'permission_denied' } } : { code: 'permission_denied', details: { operation } }, nameOf(route))
}

/** Equal but for the reference of each answer. */
function sameAsMissing (t: Test, route: Route, answer: Answer, missing: Answer): void {
  t.equal(answer.statusCode, routeCases[nameOf(route)]?.stranger === 'idle' ? 204 : 404, `${nameOf(route)}: ${answer.body.slice(0, 200)}`)
  t.strictSame(comparable(answer), comparable(missing), nameOf(route))
}

function comparable ({ statusCode, body, headers }: Answer): unknown {
  const { date, 'content-length': length, ...others } = headers
  return { statusCode, body: body.replace(/"ref":"[0-9a-f]{8}"/, '"ref":""'), headers: others, length }
}

function nameOf ({ method, url }: Route): string {
  return `${method} ${url}`
}

function pathOf ({ url }: Route, { threadId, messageId, runId, fileId, approvalId, runtimeAgentId }: Ids): string {
  return url.replace(':runtimeAgentId', runtimeAgentId).replace(':approvalId', approvalId).replace(':fileId', fileId).replace(':threadId', threadId).replace(':messageId', messageId).replace(':runId', runId).replace(/:(agentId|model)$|:agentId(?=\/)/, 'quick')
}

function bodiesOf (route: Route, ids: Ids): readonly unknown[] {
  return routeCases[nameOf(route)]?.bodies?.(ids) ?? [undefined]
}
