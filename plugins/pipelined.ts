import type { Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

/**
 * Closes answers that wait behind another one of their connection when that connection is gone. Node closes the one it was
 * sending; the readers of the others would wait for ever.
 */
export default fp(async (app) => {
  const waiting = new WeakMap<Socket, Set<ServerResponse>>()

  app.addHook('onRequest', async ({ raw: { socket } }, { raw }) => {
    if (raw.socket !== null) return
    const responses = waiting.get(socket) ?? watch(socket)
    responses.add(raw)
    raw.once('close', () => { responses.delete(raw) })
  })

  function watch (socket: Socket): Set<ServerResponse> {
    const responses = new Set<ServerResponse>()
    waiting.set(socket, responses)
    socket.once('close', () => { responses.forEach(close) })
    return responses
  }
}, { name: 'pipelined' })

/** As Node closes the others; `destroy` alone tells nobody. */
function close (response: ServerResponse): void {
  if (response.socket !== null || response.destroyed) return
  response.destroy()
  response.emit('close')
}
