/** One export in a process of its own, as a user runs it, with the memory that it took at most. */
import { runProgram } from '../src/cli/program.ts';
import { readInput, tellParent } from './child.ts';
import type { ExportInput, ExportRun } from './export.ts';
import { plainOutput } from '../test/harness/plain-output.ts';

const { databaseUrl, folder, format } = readInput() as ExportInput;
let stderr = '';
const begun = performance.now();
const code = await runProgram(
  ['export', 'user_operations', '--to', folder, '--format', format, '--json'],
  {
    env: { DATABASE_URL: databaseUrl },
    cwd: '/',
    signal: new AbortController().signal,
    stdout: () => undefined,
    stderr: (text) => void (stderr += text),
    ...plainOutput,
  },
);
if (code !== 0) throw new Error(stderr);
const { user, system } = process.cpuUsage();
tellParent({
  seconds: (performance.now() - begun) / 1000,
  cpuSeconds: (user + system) / 1e6,
  // In kilobytes.
  peakBytes: process.resourceUsage().maxRSS * 1024,
} satisfies ExportRun);
process.disconnect();
