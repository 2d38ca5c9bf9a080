import { BlockList, isIP } from 'node:net'

/**
 * Whether an IP address is one of the internet at large: not of a private, local or shared network, not multicast, not
 * reserved (the special-purpose registries of IANA, RFC 6890). An IPv6 address that stands for an IPv4 one behind a
 * translator is judged by that; one mapped into IPv6 is never public, since no name server has a reason to give it.
 */
export function isPublicAddress (address: string): boolean {
  const [plain = ''] = address.split('%') // a zone names an interface of this machine
  switch (isIP(plain)) {
    case 4: return !notPublic.check(plain, 'ipv4')
    case 6: return isPublicIPv6(plain)
    default: return false
  }
}

const notPublic = networks('ipv4', [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24],
  ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4]
])

// All unicast that is given out; what lies outside of it is local, multicast, mapped or reserved.
const globalUnicast = networks('ipv6', [['2000::', 3]])
const notGlobal = networks('ipv6', [['2001::', 23], ['2001:db8::', 32], ['3fff::', 20]])
const sixToFour = networks('ipv6', [['2002::', 16]])
const translated = networks('ipv6', [['64:ff9b::', 96]])

function isPublicIPv6 (address: string): boolean {
  if (translated.check(address, 'ipv6')) return isPublicAddress(embedded(address, 6))
  if (sixToFour.check(address, 'ipv6')) return isPublicAddress(embedded(address, 1))
  return globalUnicast.check(address, 'ipv6') && !notGlobal.check(address, 'ipv6')
}

/** The IPv4 address in two of the eight groups of an IPv6 one. */
function embedded (address: string, group: number): string {
  const groups = groupsOf(address)
  return [groups[group] ?? 0, groups[group + 1] ?? 0].flatMap((pair) => [pair >> 8, pair & 255]).join('.')
}

function groupsOf (address: string): number[] {
  // The parser of URLs writes every form of an address in one way, IPv4 tails included.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [head, tail] = [left, right ?? ''].map((half) => half === '' ? [] : half.split(':').map((group) => parseInt(group, 16)))
  const known = [...head ?? [], ...tail ?? []]
  return [...head ?? [], ...Array.from({ length: 8 - known.length }, () => 0), ...tail ?? []]
}

function networks (family: 'ipv4' | 'ipv6', list: ReadonlyArray<readonly [address: string, bits: number]>): BlockList {
  const networks = new BlockList()
  for (const [address, bits] of list) networks.addSubnet(address, bits, family)
  return networks
}
