import { format } from 'prettier';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';

/** A dashboard as its file has it. */
export const dashboardText = (board: Dashboard): Promise<string> =>
  format(JSON.stringify(board), { parser: 'json', printWidth: 100 });
