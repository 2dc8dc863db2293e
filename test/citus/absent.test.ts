import { test } from 'vitest';
import { missing } from './binaries.ts';

test.skip(missing);
