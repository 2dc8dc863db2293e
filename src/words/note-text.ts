import type { Note } from '../documents/finding.ts';
import { printable } from '../printable.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** A note as one line for people. */
export function noteText(note: Note): string {
  if ('path' in note) return spellDrift(note);
  switch (note.kind) {
    case 'ranking-moved':
      return `factories still moved during the last of ${counted(note.walks, 'walk')}: one that moved up may be missing`;
    case 'ranking-skipped':
      return 'the list skipped a part with an empty page that leads on: the last walk gives no ranking';
    case 'ranking-empty':
      return 'the list was empty, where factories were listed before: not believed';
    case 'items-dropped':
      return note.items === 1
        ? '1 item was dropped from quarantine: it is no row'
        : `${whole(note.items)} items were dropped from quarantine: they are no rows`;
    case 'lower-border-unproved': {
      const empty =
        note.empty_below > 0
          ? `, and ${counted(note.empty_below, 'number')} below it ${note.empty_below === 1 ? 'is' : 'are'} empty by the service's word alone`
          : '';
      return `batch ${whole(note.batch)}: proved but for its lower border: no batch below it was read${empty}`;
    }
    default:
      note satisfies never;
      return asItIs(note);
  }
}

const asItIs = (note: object) => printable(JSON.stringify(note));

function spellDrift(note: Drift): string {
  const drift = driftText(note);
  if (drift === null) return asItIs(note);
  const times = `${counted(note.occurrences, 'time')}, first on page ${note.first_page_id}`;
  return printable(`${drift.of} ${note.path}${drift.says}: ${times}`);
}

type Drift = Extract<Note, { path: string }>;

/** What differs from the specification, before and behind its path; null: not known to this version. */
function driftText(note: Drift): { readonly of: string; readonly says: string } | null {
  switch (note.kind) {
    case 'new-field':
      return { of: 'new field', says: ', kept in extra' };
    case 'vanished-field':
      return { of: 'field', says: ': no longer told' };
    case 'mistyped-field': {
      const kept = note.type === 'null' ? 'left out' : 'kept in extra';
      return { of: 'field', says: `: came as ${note.type}, ${kept}` };
    }
    case 'malformed-field':
      return { of: 'field', says: `: came malformed (${note.expected}), kept in extra` };
    case 'new-value':
      return { of: `new value ${JSON.stringify(note.value)} of`, says: ', kept as it is' };
    default:
      note satisfies never;
      return null;
  }
}

/** Notes as lines: those about fields that differ in the same way are one, and the new values of a field. */
export function gatherNotes(notes: readonly Note[]): string[] {
  const lines: string[] = [];
  const alike = new Map<string, { readonly drift: Gathered; readonly items: string[] }>();
  for (const note of notes) {
    const drift = 'path' in note ? gatheredAs(note) : null;
    if (drift === null) lines.push(noteText(note));
    else {
      const key = `${drift.of.one} ${drift.says}`;
      const { items } = alike.get(key) ?? { items: [] };
      alike.set(key, { drift, items: [...items, drift.item] });
    }
  }
  return [...lines, ...[...alike.values()].map(({ drift, items }) => gathered(drift, items))];
}

/** What is gathered: what differs, how, and the one that it is about. */
interface Gathered {
  readonly of: { readonly one: string; readonly others: string };
  readonly says: string;
  readonly item: string;
}

function gatheredAs(note: Drift): Gathered | null {
  if (note.kind === 'new-value') {
    const of = { one: `new value of ${note.path}:`, others: `new values of ${note.path}:` };
    return { of, says: ', kept as told', item: JSON.stringify(note.value) };
  }
  const drift = driftText(note);
  if (drift === null) return null;
  const of = { one: drift.of, others: `${drift.of}s` };
  return { of, says: drift.says, item: note.path };
}

/** Fields or values that are named in a line; the rest is counted. */
const mostNamed = 4;

function gathered({ of, says }: Gathered, items: readonly string[]): string {
  const rest = items.length - mostNamed;
  const named = items.slice(0, mostNamed).join(', ');
  const others = rest > 0 ? ` and ${whole(rest)} more` : '';
  return printable(`${items.length === 1 ? of.one : of.others} ${named}${others}${says}`);
}
