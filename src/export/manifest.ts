import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ExportError } from './failure.ts';
import { makeFile } from './sink.ts';

/** Beside the folders of the relations. */
export const manifestName = 'manifest.json';
/** It is written anew as a whole, so not for each of thousands of files: a kill costs those of so long, in ms. */
const saveEveryMs = 1_000;

const fileSchema = z.object({
  path: z.string(),
  chain_id: z.string().nullable(),
  day: z.string().nullable(),
  rows: z.int(),
  bytes: z.int(),
  sha256: z.string(),
  as_of: z.string(),
});

const relationSchema = z.object({
  name: z.string(),
  kind: z.enum(['table', 'view', 'question']),
  layout: z.enum(['day', 'chain', 'whole']),
  columns: z.array(z.object({ name: z.string(), type: z.string(), stored_as: z.string() })),
  files: z.array(fileSchema),
});

const manifestSchema = z.object({
  manifest: z.literal(1),
  format: z.enum(['parquet', 'csv']),
  program: z.string(),
  schema: z.string().nullable(),
  relations: z.array(relationSchema),
});

/** A file of an export, as the manifest tells of it. */
export type ExportedFile = Readonly<z.infer<typeof fileSchema>>;
export type ExportedColumn = Readonly<z.infer<typeof relationSchema>['columns'][number]>;
export type ManifestHead = Readonly<Omit<z.infer<typeof manifestSchema>, 'manifest' | 'relations'>>;
/** A relation or question of an export, without its files. */
export type ExportedRelation = Readonly<Omit<z.infer<typeof relationSchema>, 'files'>>;

/** What the files of a folder are. Whatever it says stood in the folder when it was written. */
export class Manifest {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #relations = new Map<string, ExportedRelation>();
  readonly #files = new Map<string, Map<string, ExportedFile>>();
  #head: ManifestHead;
  #savedAt = -Infinity;

  /** @param now monotonic, in ms */
  constructor(folder: string, head: ManifestHead, now: () => number) {
    this.#folder = folder;
    this.#head = head;
    this.#now = now;
  }

  /**
   * Reads the one of a folder.
   *
   * @returns null where it has none
   * @throws ExportError where it is none of this program
   */
  static async read(folder: string, now: () => number): Promise<Manifest | null> {
    const text = await readFile(join(folder, manifestName), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return null;
    const read = manifestSchema.safeParse(parse(text));
    if (!read.success) {
      throw new ExportError(
        `${join(folder, manifestName)} is not the manifest of an export of this version: choose another folder.`,
      );
    }
    const { relations, ...head } = read.data;
    const manifest = new Manifest(folder, head, now);
    for (const { files, ...relation } of relations) {
      manifest.describe(relation);
      for (const file of files) manifest.put(relation.name, file);
    }
    return manifest;
  }

  get head(): ManifestHead {
    return this.#head;
  }

  /** What makes files from now on. */
  continueAs(head: ManifestHead): void {
    this.#head = head;
  }

  relation(name: string): ExportedRelation | null {
    return this.#relations.get(name) ?? null;
  }

  files(name: string): readonly ExportedFile[] {
    return [...(this.#files.get(name)?.values() ?? [])];
  }

  /** Whether a file of this path is told of. */
  has(path: string): boolean {
    return [...this.#files.values()].some((files) => files.has(path));
  }

  describe(relation: ExportedRelation): void {
    this.#relations.set(relation.name, relation);
    if (!this.#files.has(relation.name)) this.#files.set(relation.name, new Map());
  }

  put(name: string, file: ExportedFile): void {
    this.#files.get(name)?.set(file.path, file);
  }

  drop(name: string, path: string): void {
    this.#files.get(name)?.delete(path);
  }

  /** Writes it, if the last time was long enough ago. */
  async saveNowAndThen(): Promise<void> {
    if (this.#now() - this.#savedAt >= saveEveryMs) await this.save();
  }

  async save(): Promise<void> {
    const relations = [...this.#relations.values()].toSorted(byName).map((relation) => ({
      ...relation,
      files: this.files(relation.name).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    }));
    const text = `${JSON.stringify({ manifest: 1, ...this.#head, relations }, null, 1)}\n`;
    await makeFile(join(this.#folder, manifestName), async (sink) => {
      await sink(Buffer.from(text));
      return true;
    });
    this.#savedAt = this.#now();
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : 1;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
