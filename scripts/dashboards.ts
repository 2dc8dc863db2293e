import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allBoards } from './dashboards/boards.ts';
import { dashboardText } from './dashboards/text.ts';

/** `npm run generate dashboards`: writes dashboards/grafana/*.json. */
for (const [name, board] of Object.entries(allBoards)) {
  const file = join(import.meta.dirname, `../dashboards/grafana/${name}.json`);
  await writeFile(file, await dashboardText(board));
}
