import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integerText, isExactNumber, parseExactly } from '../../src/exact-number.ts';

const reformatted = (text: string) => JSON.stringify(parseExactly(text));

test.each([
  '187125856691380123456',
  '9007199254740993',
  '0.1234567890123456789',
  '1e400',
  '-1e-400',
  '1.00000000000000000001',
  '115792089237316195423570985008687907853269984665640564039457584007913129639935',
])('%s keeps its digits at any place in a document', (number) => {
  const text = `{"a":${number},"b":[1,${number},{"c":${number}}]}`;
  expect(reformatted(text)).toBe(text);
  expect(reformatted(text.replaceAll(',', ' ,\n ').replaceAll(':', ' : '))).toBe(text);
});

test.each(['1', '-7', '0.5', '67.04523159861733', '1e21', '1E5', '356.0', '1.50e+2', '0e0'])(
  '%s is parsed as a double',
  (number) => {
    const { a } = parseExactly(`{"a":${number},"long":9007199254740993}`) as { a: unknown };
    expect(a).toBe(Number(number));
  },
);

test('digits within a string are left alone', () => {
  const text = '{"note":"a:9007199254740993, [1e400]","n":1}';
  expect(parseExactly(text)).toEqual({ note: 'a:9007199254740993, [1e400]', n: 1 });
});

test.each(['1e100000', `1${'0'.repeat(2_000)}1`, '1e-5000'])(
  'a number as long as %s is kept as text',
  (number) => {
    expect(parseExactly(`[${number}]`)).toEqual([number]);
  },
);

test('a __proto__ key is ordinary data beside a long number', () => {
  const value = parseExactly('{"__proto__":{"polluted":1},"a":9007199254740993}') as object;
  expect(Object.keys(value)).toEqual(['__proto__', 'a']);
  expect({}).not.toHaveProperty('polluted');
});

test('every integer has its digits, and every double is itself', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }), (integer) => {
      const [value] = parseExactly(`[${integer}]`) as unknown[];
      expect(integerText(value)).toBe(String(integer));
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
      const [value] = parseExactly(JSON.stringify([double])) as unknown[];
      expect(isExactNumber(value)).toBe(false);
      expect(value).toBe(double === 0 ? 0 : double);
    }),
  );
});

describe('the digits of', () => {
  test.each([
    [1e21, '1000000000000000000000'],
    [1.5, null],
    ['12', null],
    [-3, '-3'],
    [-0, '0'],
    [null, null],
  ])('%j are %j', (value, digits) => {
    expect(integerText(value)).toBe(digits);
  });
});
