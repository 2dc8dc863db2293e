import { test } from 'vitest';
import {
  expectAlone,
  expectEndedByPage,
  expectRetried,
  expectUnsupported,
  html,
} from './refused-scene.ts';

test('a list that was served is retried after a 410', async () => {
  await expectRetried({ status: 410, body: { message: 'Gone for now' } }, /Gone for now/u);
});

test('a list that was never served is unsupported, with the words of the service, after a 404 of an ingress', async () => {
  const fault = { status: 404, body: 'default backend - 404' };
  await expectUnsupported(fault, /default backend - 404/u);
});

test('a list is refused alone, and the other is downloaded: a login page answers 200', async () => {
  const fault = { status: 200, body: html('Sign in') };
  await expectAlone(fault, 'intercepted', /in front of the explorer answers: Sign in/u);
});

test.each([
  ['that the service did not see', { status: 402, body: { error: 'Proceed with API key' } }],
  ['without credits', { status: 402, body: { error: 'Out of credits' } }],
])('one page ends the fact of a key %s for all feeds of the key', async (_what, fault) => {
  await expectEndedByPage(fault);
});
