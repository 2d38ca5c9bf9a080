/** The wires a chat reply can be asked for on. */
export const protocolNames = ['ai-sdk', 'text', 'native', 'ag-ui'] as const
export type ProtocolName = typeof protocolNames[number]

/**
 * How much of the ai-sdk and ag-ui wires a client understands: `portable` what every version does, `full` what current
 * ones do, `v5` no approvals, for clients of version 5 of the AI SDK.
 */
export const wireProfiles = ['portable', 'full', 'v5'] as const
export type WireProfile = typeof wireProfiles[number]
