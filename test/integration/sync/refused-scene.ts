import { expect } from 'vitest';
import type { z } from 'zod';
import type { Fault, Faults } from '../../../simulator/index.ts';
import type { statusDocument } from '../../../src/status/schema.ts';
import { smallChain } from '../../harness/sync.ts';
import { openProgram } from './program.ts';

type Status = z.infer<typeof statusDocument>;

export const chain = smallChain({ userOperations: 120, factories: 20 });
export const lists = { 'user-operations': { parallel: 1 }, factories: {} };

export const html = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head></html>`;

/** The program on two lists; the user operations meet `fault`, if `when` is so, until it is null. */
export async function openScene() {
  const scene: { fault: Fault | null; when: (request: Parameters<Faults>[0]) => boolean } = {
    fault: null,
    when: ({ operation }) => operation === 'user-operations',
  };
  const program = await openProgram({
    chains: [chain],
    operations: lists,
    faults: (request) => (scene.when(request) ? scene.fault : null),
  });
  const feeds = async () =>
    Object.fromEntries(
      (await program.query('select operation, failure, reason from etl.feeds')).map(
        ({ operation, ...feed }) => [String(operation), feed],
      ),
    );
  const reasons = async () => (await program.documentOf<Status>('status')).reasons;
  return Object.assign(scene, { ...program, feeds, reasons });
}

/** A list that was served meets a fault: it is retried. */
export async function expectRetried(fault: Fault, words: RegExp): Promise<void> {
  const scene = await openScene();
  await scene.run('sync');
  scene.fault = fault;
  const failed = await scene.run('sync');
  expect(failed.code).toBe(1);
  expect(failed.stdout).not.toMatch(/refused a parameter|remove it from/iu);
  expect((await scene.feeds())['user-operations']).toMatchObject({
    failure: 'unreachable',
    reason: expect.stringMatching(words),
  });
  scene.fault = null;
  expect((await scene.run('sync')).code).toBe(0);
}

/** A list that was never served meets a fault: it is unsupported, until it is served. */
export async function expectUnsupported(fault: Fault, words: RegExp): Promise<void> {
  const scene = await openScene();
  await scene.run('sync', '--operation', 'factories');
  scene.fault = fault;
  const { code, stdout } = await scene.run('sync');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/The explorer does not serve this list on this chain: HTTP 4/u),
  });
  expect(stdout.replaceAll(/\s+/gu, ' ')).toMatch(words);
  expect(stdout).not.toMatch(/refused a parameter/iu);
  expect(await scene.feeds()).toMatchObject({
    factories: { reason: null },
    'user-operations': { failure: 'unsupported' },
  });
  scene.fault = null;
  await scene.run('sync');
  expect((await scene.feeds())['user-operations']).toMatchObject({ reason: null });
}

/** One of two lists meets a fault: it alone fails, with a reason, and the other is downloaded. */
export async function expectAlone(fault: Fault, failure: string, reason: RegExp): Promise<void> {
  const scene = await openScene();
  scene.fault = fault;
  expect((await scene.run('sync')).code).toBe(1);
  expect(await scene.feeds()).toMatchObject({
    factories: { reason: null },
    'user-operations': { failure, reason: expect.stringMatching(reason) },
  });
  const [first] = await scene.reasons();
  expect(first).toMatchObject({
    code: 'failing',
    blocks_readiness: false,
    feeds: ['10/user-operations'],
    sentence: expect.stringMatching(reason),
  });
}

/** A fault that is a fact of the key ends for all its feeds with one page. */
export async function expectEndedByPage(fault: Fault): Promise<void> {
  const scene = await openScene();
  scene.when = () => true;
  scene.fault = fault;
  await scene.run('sync');
  const blocked = (await scene.reasons()).find((reason) => reason.blocks_readiness);
  expect(blocked?.feeds).toEqual(['10/user-operations', '10/factories']);
  scene.fault = null;
  expect((await scene.run('sync', '--operation', 'factories')).code).toBe(0);
  expect((await scene.feeds())['user-operations']).toEqual({
    failure: null,
    reason: null,
  });
  const codes = (await scene.reasons()).map(({ code }) => code);
  expect(codes).not.toContain('key-refused');
  expect(codes).not.toContain('out-of-credits');
}
