export { demoSettings } from './demo-world.ts';
