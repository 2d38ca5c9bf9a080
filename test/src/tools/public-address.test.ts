import t from 'tap'
import { isPublicAddress } from '../../../src/tools/public-address.ts'

const notPublic = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '0:0:0:0:0:0:0:0'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fdff:ffff::1', 'fec0::1'],
  'link-local': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  'shared by a carrier': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.255', '192.0.0.1', '100::1', '4000::1', '5f00::1'],
  'for examples and measurements': ['192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255', '2001:db8::1', '3fff::1', '2001:2::1'],
  'mapped into IPv6': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:192.168.0.1', '::127.0.0.1'],
  'private behind a translator': ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::169.254.169.254', '64:ff9b:1::1', '2002:7f00:1::', '2002:c0a8:1::1', '2001:0:7f00:1::1'],
  'no addresses': ['', 'localhost', 'example.com', '1.2.3', '127.1', '0x7f.0.0.1', '1.2.3.4.5', ':::1']
}

for (const [kind, addresses] of Object.entries(notPublic)) {
  t.test(`what is ${kind} is not public`, async (t) => {
    for (const address of addresses) t.notOk(isPublicAddress(address), address)
  })
}

t.test('everything else is', async (t) => {
  const all = [
    '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0',
    '192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255',
    '2000::1', '2606:4700:4700::1111', '2001:4860:4860::8888', '2001:200::1', '3ffe::1', '64:ff9b::8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'
  ]
  for (const address of all) t.ok(isPublicAddress(address), address)
})
