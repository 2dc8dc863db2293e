import type { Lie, Scene } from './lies.ts';

const past = '1970-01-01T00:00:00.000000Z';
const future = '2099-01-01T00:00:00.000000Z';

/** Reports another time of some items, where there are as many. */
const mistime = (
  name: string,
  time: string,
  which: (scene: Scene) => { readonly from: number; readonly count: number },
): Lie => ({
  name,
  lists: ['operations'],
  findable: true,
  tell(scene) {
    const { honest } = scene;
    const { from, count } = which(scene);
    if (honest.items.length < Math.max(3, count)) return null;
    const items = honest.items.map((item, at) =>
      at >= from && at < from + count ? { ...item, timestamp: time } : item,
    );
    return { page: { ...honest, items } };
  },
});

/** So many neighbours somewhere on the page, or at its end, where a walk looks for its bound. */
const neighbours =
  (count: number) =>
  ({ honest: { items }, chance }: Scene) => ({
    from: chance.percent(50) ? items.length - count : chance.whole(0, items.length - count),
    count,
  });

/** Wrong times: what they bound is lost. */
export const times: readonly Lie[] = [
  mistime('time-past', past, neighbours(1)),
  mistime('time-future', future, neighbours(1)),
  mistime('times-two-past', past, neighbours(2)),
  mistime('times-two-future', future, neighbours(2)),
  mistime('times-page-past', past, ({ honest: { items } }) => ({ from: 0, count: items.length })),
];
