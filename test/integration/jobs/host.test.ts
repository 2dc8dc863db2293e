import { test } from 'vitest';
import { expectOutlasted } from './host-scene.ts';

test('an explorer that refuses connections is tested for all feeds and processes at once', () =>
  expectOutlasted('refuses connections'));
