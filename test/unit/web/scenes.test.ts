import { expect, test } from 'vitest';
import * as endpoints from '../../../src/status/endpoints.ts';
import { statusDocument } from '../../../src/status/schema.ts';
import { answerTo, sceneNames, sceneOf } from '../../browser/scenes.ts';

const schemas = {
  status: statusDocument,
  strips: endpoints.stripsDocument,
  coverage: endpoints.coverageDocument,
  throughput: endpoints.throughputDocument,
  runs: endpoints.runsDocument,
  queries: endpoints.queriesDocument,
  trace: endpoints.traceDocument,
};

// A page that is tested over documents which the program never sends.
test.each(sceneNames)("the documents of scene %s match the program's schemas", (name) => {
  const scene = sceneOf(name);
  for (const [key, schema] of Object.entries(schemas)) {
    const document = scene[key as keyof typeof schemas];
    expect(schema.parse(document)).toEqual(document);
  }
  for (const { name: query } of scene.queries.queries) {
    const answer = answerTo(query);
    expect(endpoints.queryDocument.parse(answer)).toEqual(answer);
  }
});
