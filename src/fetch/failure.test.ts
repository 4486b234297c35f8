import { describe, expect, it } from 'vitest';
import { failureOf, messageOf } from './failure.ts';

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe('failureOf', () => {
  it.each([
    ['ENOTFOUND', 'unknown-host'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'refused'],
    ['EHOSTUNREACH', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['ETIMEDOUT', 'timeout-connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout-connect'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout-headers'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout-body'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['EPROTO', 'tls'],
    ['HPE_INVALID_CONSTANT', 'protocol'],
    ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
    ['ERR_HTTP2_STREAM_ERROR', 'protocol'],
    ['SUMI_PROXY', 'proxy'],
    ['SOMETHING_NEW', 'other'],
  ])('calls %s %s', (code, failure) => {
    expect(failureOf(withCode(code))).toBe(failure);
  });

  it('calls an error without a code other', () => {
    expect(failureOf(new Error('plain'))).toBe('other');
    expect(failureOf(null)).toBe('other');
  });
});

describe('messageOf', () => {
  it('gives the code where the message is empty', () => {
    expect(messageOf(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
  });

  it('takes the reason alone from what OpenSSL says', () => {
    const told =
      '803C2381987F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../record.c:350:\n';
    expect(messageOf(new Error(told))).toBe('wrong version number');
  });
});
