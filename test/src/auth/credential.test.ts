import t from 'tap'
import { readCredential } from '../../../src/auth/credential.ts'

t.test('a credential comes as a bearer token or in x-api-key', async (t) => {
  for (const headers of [{ authorization: 'Bearer a.b-c_~+/=' }, { authorization: 'bearer   a.b-c_~+/= ' }, { 'x-api-key': 'a.b-c_~+/=' }, { authorization: 'Bearer a.b-c_~+/=', 'x-api-key': 'a.b-c_~+/=' }]) {
    t.strictSame(readCredential(headers), { kind: 'token', token: 'a.b-c_~+/=' }, JSON.stringify(headers))
  }
  t.strictSame(readCredential({ cookie: 'session=1' }), { kind: 'none' })
})

t.test('what is not one token is not read as one, and no part of it is repeated', async (t) => {
  for (const headers of [
    { authorization: '' }, { authorization: 'Bearer' }, { authorization: 'Bearer ' }, { authorization: 'Basic c2VjcmV0' }, { authorization: 'c2VjcmV0' }, { authorization: 'Bearer c2VjcmV0 more' },
    { authorization: 'Bearer c2VjcmV0, Bearer c2VjcmV1' }, { authorization: ['Bearer c2VjcmV0', 'Bearer c2VjcmV1'] },
    { 'x-api-key': '' }, { 'x-api-key': 'c2VjcmV0, c2VjcmV1' }, { 'x-api-key': ['c2VjcmV0', 'c2VjcmV1'] },
    { authorization: 'Bearer c2VjcmV0', 'x-api-key': 'c2VjcmV1' }, { authorization: 'Basic c2VjcmV0', 'x-api-key': 'c2VjcmV0' }
  ]) {
    const credential = readCredential(headers)
    t.equal(credential.kind, 'unreadable', JSON.stringify(headers))
    t.notMatch(JSON.stringify(credential), 'c2Vj')
  }
})
