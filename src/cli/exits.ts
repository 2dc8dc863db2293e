export { exits } from './context.ts';
