export { questionOf } from './query.ts';
