import { asCalled } from './called.ts';
import type { Context } from './context.ts';

/** Writes a text for people to stdout: the commands that it names are as the user has to type them. */
export const print = ({ stdout, program, isDemo }: Context, text: string): void =>
  stdout(asCalled(text, program, isDemo));

/** The same on stderr, for what is beside the answer: where data is, what failed. */
export const tell = ({ stderr, program, isDemo }: Context, text: string): void =>
  stderr(asCalled(text, program, isDemo));
