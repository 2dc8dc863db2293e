import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/config/environment.ts';
import { loadSettings, type SettingsInput } from '../../../src/config/load.ts';

/** A folder with these files that lives as long as the test. */
export function folder(files: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'explorer-etl-config-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** Settings from an explorer-etl.yaml with this text (none: no file), an empty environment. */
export function load(text: string | null, input: Partial<SettingsInput> = {}) {
  const files: Record<string, string> = text === null ? {} : { 'explorer-etl.yaml': text };
  return loadSettings({ env: {}, cwd: folder(files), ...input });
}

/** The lines of the ConfigError that a call throws. */
export function complaints(call: () => unknown): string[] {
  try {
    call();
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  throw new Error('expected a ConfigError');
}
