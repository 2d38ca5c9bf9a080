import type { ProtocolName } from '../messages/wire.ts'
import { agUiProtocol } from './ag-ui/encode.ts'
import { aiSdkProtocol } from './ai-sdk/encode.ts'
import { nativeProtocol } from './native/encode.ts'
import type { Protocol } from './protocol.ts'
import { textProtocol } from './text/encode.ts'

const protocols: Readonly<Record<ProtocolName, Protocol>> = { 'ai-sdk': aiSdkProtocol, text: textProtocol, native: nativeProtocol, 'ag-ui': agUiProtocol }

export function protocolNamed (name: ProtocolName): Protocol {
  return protocols[name]
}
