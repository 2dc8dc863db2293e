import { z } from 'zod';
import { baseUrlProblem, explorer } from './explorer-schema.ts';
import { http } from './http-schema.ts';
import { settingsOf } from '../lists/index.ts';
import { operationNames } from '../operations/index.ts';

/** A key that stands there without a value means its defaults. */
const orDefaults = <Shape extends z.ZodType>(shape: Shape) => shape.nullable().optional();

const operations = z
  .strictObject(
    Object.fromEntries(operationNames.map((name) => [name, orDefaults(settingsOf(name))])),
  )
  .refine((chosen) => Object.keys(chosen).length > 0, 'names no operation')
  .describe(
    'What to copy from this chain. Without this key: the operations that are usual for it.',
  );

const chain = z
  .strictObject({
    id: z.int().min(1).describe('Number of the chain, as in the URL of the explorer.'),
    name: z.string().min(1).optional().describe('Name in reports. Default: the usual name.'),
    native_symbol: z
      .string()
      .min(1)
      .max(20)
      .optional()
      .describe(
        "Symbol of the chain's own currency, in which it counts fees. Default: the usual one; none for a chain that is not known by its number.",
      ),
    native_decimals: z
      .int()
      .min(0)
      .max(77)
      .optional()
      .describe('Decimals of that currency, by which amounts are counted in views. Default: 18.'),
    explorer_url: z
      .string()
      .superRefine((text, context) => {
        const problem = baseUrlProblem(text);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      })
      .optional()
      .describe(
        'Where people look at the chain, for links. Default: the usual one; none for a chain that is not known by its number.',
      ),
    key: z
      .string()
      .min(1)
      .optional()
      .describe('Which of explorer.keys is used for this chain. Default: EXPLORER_API_KEY.'),
    operations: operations.optional(),
  })
  .describe('A chain to copy.');

function refuseRepeats(chains: readonly { id: number }[], context: z.RefinementCtx): void {
  // Unlike its type says, it may hold anything: it is called even if elements are wrong.
  const ids = chains.map((listed: { id: number } | null) => listed?.id);
  for (const [index, id] of ids.entries()) {
    if (typeof id !== 'number' || ids.indexOf(id) === index) continue;
    const message = `chain ${id} is listed twice`;
    context.addIssue({ code: 'custom', path: [index, 'id'], message });
  }
}

/** The shape of explorer-etl.yaml. */
export const configSchema = z
  .strictObject({
    explorer: orDefaults(explorer),
    chains: z
      .array(chain)
      .superRefine(refuseRepeats, { when: ({ value }) => Array.isArray(value) })
      .nullish()
      .describe('The chains to copy.'),
    http: orDefaults(http),
  })
  .describe('Configuration of explorer-etl.');

/** The file's content once validated. */
export type Config = z.output<typeof configSchema>;

/** The JSON Schema of the file for editors, as the text of explorer-etl.schema.json. */
export function configJsonSchema(): string {
  // Draft 7 is what yaml-language-server reads best.
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ title: 'explorer-etl.yaml', ...schema }, null, 2)}\n`;
}
