export { tellWhere } from './print.ts';
