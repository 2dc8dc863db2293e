import { expect, test } from 'vitest';
import { commandAgain } from '../../src/cli/sync-result.ts';

test.each([
  [['sync', '--since', '2026-01-01'], 'explorer-etl sync --since 2026-01-01'],
  [
    ['--config', "it's here.yaml", 'sync'],
    String.raw`explorer-etl --config 'it'\''s here.yaml' sync`,
  ],
  [['sync', '--database-url', 'postgres://a:secret@b/c'], 'explorer-etl sync --database-url …'],
  [['--database-url=postgres://a:secret@b/c', 'sync'], 'explorer-etl --database-url=… sync'],
])('the same command as it can be given again, without a password: %j', (args, command) => {
  expect(commandAgain(args)).toBe(command);
});
