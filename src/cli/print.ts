import { z } from 'zod';
import { printableLines } from '../printable.ts';
import { columns } from '../terminal/layout.ts';
import { type Look, paint } from '../terminal/look.ts';
import { exits, type Context, type Exit, type World } from './context.ts';

/** How a command ended: field `exit` of every document. */
export const exitSchema = z.strictObject({
  code: z.int().min(0).max(255),
  reason: z.enum(Object.values(exits).map(({ reason }) => reason)),
});

/** A command's document without `exit`. A breaking change increases its version. */
type DocumentSchema = z.ZodObject<{ readonly schema: z.ZodLiteral<string> }>;

type Fields<Schema extends DocumentSchema> = Omit<z.infer<Schema>, 'schema'>;

/** Writes the document of `--json`: one, and nothing else on stdout. */
export function writeJson<Schema extends DocumentSchema>(
  { stdout }: Pick<World, 'stdout'>,
  { shape }: Schema,
  fields: Fields<Schema>,
  exit: Exit = exits.done,
): Exit {
  const document = { schema: shape.schema.value, exit, ...fields };
  stdout(`${printableLines(JSON.stringify(document, null, 2))}\n`);
  return exit;
}

/** Prints a command's answer as a document or as text. @returns its exit */
export function printAnswer<Schema extends DocumentSchema>(
  context: Pick<Context, 'stdout' | 'json'>,
  schema: Schema,
  fields: Fields<Schema>,
  text: string,
  exit: Exit = exits.done,
): Exit {
  if (context.json) return writeJson(context, schema, fields, exit);
  context.stdout(text);
  return exit;
}

/** Commands to go on with, and what each does. */
export function nextLines(
  look: Look,
  steps: readonly (readonly [command: string, what: string])[],
): string[] {
  const rows = steps.map(([command, what]) => [`  ${paint(look, 'command', command)}`, what]);
  return ['Next:', ...columns(look, { rows, flexible: 1 })];
}
