import { spawnSync } from 'node:child_process';

/** Whether a program is there, and answers. */
const isInstalled = (program: 'prometheus' | 'promtool'): boolean =>
  spawnSync(program, ['--version']).status === 0;

/** Whether both programs of Prometheus are on the PATH. */
export const hasPrometheus = (): boolean => isInstalled('prometheus') && isInstalled('promtool');
