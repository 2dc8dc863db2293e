export { packageVersion as version } from '../package-file.ts';
