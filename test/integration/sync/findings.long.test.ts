import { test } from 'vitest';
import { every, expectReported } from './findings-scene.ts';

test.each(every.filter((_, at) => at % 2 === 1))(
  'verify reports the findings of %s as the view has them, and no view contradicts them',
  (_, edit) => expectReported(edit),
);
