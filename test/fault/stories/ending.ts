import type { Ending } from './story.ts';

/** Whether a story ended as it should: nothing false was said, no view contradicts verify, and all is well in the end. */
export const isWell = ({ falselyComplete, contradicted, unhealed }: Ending) =>
  falselyComplete.length + contradicted.length + unhealed.length === 0;

/** How many lies are shown of a story. */
const shownLies = 12;

/** What was wrong in a story, with the command that plays it again. */
export function describeEnding(ending: Ending, lie: string | null): string {
  const only = lie === null ? '' : `STORY_LIE=${lie} `;
  const repeat = `STORIES=1 STORY_SEED=${ending.seed} ${only}npm test -- adversarial`;
  const seen = new Set<string>();
  // What is wrong once is mostly wrong in the rounds after it too.
  const first = ending.falselyComplete.filter(({ feed, wrong }) => {
    const isNew = !seen.has(feed + wrong.join());
    seen.add(feed + wrong.join());
    return isNew;
  });
  const claims = first.map(({ feed, round, covered, wrong, played }) => {
    const ranges = covered.map(({ from, to }) => `${from} to ${to}`).join(', ') || 'nothing';
    const heard = played
      .slice(-shownLies)
      .map(
        ({ lie: name, request, round: at, part }) =>
          `    round ${at}: ${name}${part === null ? '' : ` (${part})`}, requested ${request}`,
      );
    return [
      `  round ${round}: verify says that ${feed} is complete, and covers ${ranges}`,
      ...wrong.map((what) => `    wrong: ${what}`),
      ...heard,
    ].join('\n');
  });
  const unhealed = ending.unhealed.map((what) => `  after the honest rounds: ${what}`);
  const contradicted = [...new Set(ending.contradicted)].map((what) => `  ${what}`);
  return [
    `seed ${ending.seed}; repeat with: ${repeat}`,
    ...claims,
    ...contradicted,
    ...unhealed,
  ].join('\n');
}
