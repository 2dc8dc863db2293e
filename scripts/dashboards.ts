import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allBoards } from './dashboards/boards.ts';
import { dashboardText, supersetZip, zipSuperset } from './dashboards/written.ts';

/** `npm run generate dashboards`: writes dashboards/grafana/*.json and dashboards/superset.zip. */
for (const [name, board] of Object.entries(allBoards)) {
  const file = join(import.meta.dirname, `../dashboards/grafana/${name}.json`);
  await writeFile(file, await dashboardText(board));
}
await writeFile(supersetZip, await zipSuperset());
