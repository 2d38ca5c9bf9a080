import { decodeRunInput } from '../../src/protocols/ag-ui/decode.ts'
import { agUiProtocol, encodeAgUi } from '../../src/protocols/ag-ui/encode.ts'
import { runInputSchema } from '../../src/protocols/ag-ui/run-input.ts'
import { chatReference } from '../reference/chat.ts'
import { agentParams, threadIdField } from '../schemas/fields.ts'
import { idHeaders } from '../send-reply.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const body = runInputSchema.extend({ threadId: threadIdField })

/** An agent behind the protocol AG-UI. The client's run is one turn of its thread. */
const agUi: RoutePlugin = async (app) => {
  app.post('/agents/:agentId/ag-ui', { schema: { ...chatReference.agUi, params: agentParams, body } }, async (request, reply) => {
    const { params: { agentId }, body: { threadId, runId: clientRunId } } = request
    const { turn, metadata, profile, rewindTo, told } = decodeRunInput(request.body)
    const answer = await app.chat.takeTurn(request.principal, { threadId, agentId, metadata, request: turn, told, baseUrl: request.baseUrl() })
    const frames = encodeAgUi(answer.events(reply.closeSignal()), { initialParts: answer.initialParts, profile, clientRunId, rewindTo })
    return reply.stream(frames, { ...agUiProtocol.headers, ...idHeaders(answer) })
  })
}

export default agUi
