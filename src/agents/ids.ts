import { v5 } from 'uuid'

// The DNS namespace of RFC 9562. It can never change: every stored thread points at its agent by an id made with it.
const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

/** The same key gives the same id on every start, host and replica. */
export function agentId (key: string): string {
  return v5(key, namespace)
}
