import type { StatusDocument } from '../documents/status.ts';

type Proved = StatusDocument['feeds'][number]['proved'];

const bases = { known: '', reckoned: 'about ', 'at-least': 'at least ', unknown: '' } as const;

/** The part of a list that is proved, with what it rests on. What is not the whole is never told as 100 %. */
export function shareText({ share, basis }: Pick<Proved, 'share' | 'basis'>): string {
  if (share === null) return 'share unknown';
  const percents = share < 1 ? Math.min(99, Math.floor(share * 100)) : 100;
  return `${bases[basis]}${percents} % proved`;
}
