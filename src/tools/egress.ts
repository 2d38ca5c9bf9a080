import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici'
import { addressRefused } from '../errors.ts'
import { isPublicAddress } from './public-address.ts'

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** The way out to addresses that somebody else chose. */
export interface Egress {
  /** False for a URL whose host is an address, or `localhost`, that is refused. Names are not resolved: those come out when they are. */
  mayReach: (url: URL) => boolean
  /**
   * Like the global one, but it connects to public addresses and allowed ones only, whatever a name resolves to and
   * wherever a redirect leads; else it rejects, with configuration_error somewhere in the chain of causes. What was
   * checked is what is connected to, so that a name cannot change its mind in between.
   */
  fetch: Fetch
  close: () => Promise<void>
}

export type Resolve = (host: string, options: LookupOptions & { all: true }, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void) => void

export interface EgressOptions {
  /** Entries of EGRESS_ALLOW: hosts and addresses with or without a port, and networks. */
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
}

type Permit = (host: string, port: number, address: string) => boolean

export function createEgress ({ allow = [], resolve = systemLookup }: EgressOptions = {}): Egress {
  const permits = createPermit(allow)
  let agent: Agent | undefined
  return {
    mayReach: (url) => {
      const host = bare(url.hostname)
      const address = host === 'localhost' ? '127.0.0.1' : host
      return isIP(address) === 0 || permits(host, portOf(url), address)
    },
    fetch: async (url, init = {}) => {
      // No header and body timeouts: a tool may be silent for as long as its caller is patient.
      agent ??= new Agent({ connect: connector(permits, resolve), headersTimeout: 0, bodyTimeout: 0 })
      // The types differ in where they are declared only: the classes of bodies and signals are those of Node.
      return await undiciFetch(url, { ...init, dispatcher: agent } as UndiciRequestInit) as unknown as Response
    },
    close: async () => { await agent?.destroy() }
  }
}

function createPermit (allow: readonly string[]): Permit {
  const names = new Set<string>()
  const networks = new BlockList()
  for (const entry of allow) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits !== undefined) networks.addSubnet(address, Number(bits), family)
    else if (isIP(entry) !== 0) networks.addAddress(entry, family)
    else names.add(normal(entry))
  }
  return (host, port, address) => {
    if (isPublicAddress(address)) return true
    const [plain = ''] = address.split('%')
    if (networks.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')) return true
    return [host, `${host}:${port}`, `${address}:${port}`].some((name) => names.has(normal(name)))
  }
}

/** Connects like undici's own connector, after the address was judged. */
function connector (permits: Permit, resolve: Resolve): buildConnector.connector {
  const byPort = new Map<number, buildConnector.connector>()
  return (options, callback) => {
    const host = bare(options.hostname)
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    // An address is connected to without being looked up.
    if (isIP(host) !== 0 && !permits(host, port, host)) {
      callback(refusal(host, port, host), null)
      return
    }
    const known = byPort.get(port) ?? buildConnector({ timeout: 10_000, lookup: checkedLookup(port, permits, resolve) })
    byPort.set(port, known)
    known(options, callback)
  }
}

function checkedLookup (port: number, permits: Permit, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    const host = bare(hostname)
    resolve(hostname, { ...options, all: true }, (error, addresses = []) => {
      const refused = addresses.find(({ address }) => !permits(host, port, address))
      const [first] = addresses
      if (error !== null) callback(error, '')
      else if (refused !== undefined) callback(refusal(host, port, refused.address), '')
      else if (options.all === true) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    })
  }
}

function refusal (host: string, port: number, address: string): Error {
  const where = host === address ? address : `${host}, which is ${address},`
  return addressRefused(host, new Error(`${where} is no public address; EGRESS_ALLOW can name it: ${host.includes(':') ? `[${host}]` : host}:${port}`))
}

function portOf ({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** Without the brackets of IPv6 and the dot that ends a full name. */
function bare (hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '').toLowerCase()
}

function normal (name: string): string {
  return name.toLowerCase().replace(/[[\]]/g, '')
}
