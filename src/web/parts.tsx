import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import type { RunsDocument } from '../status/endpoints.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import type { Answer } from './api.ts';
import { cell, sixDigits } from './format.ts';

/** Props of each view: the status, and the name and parameters in the URL. */
export interface ViewProps {
  readonly status: StatusDocument;
  readonly name: string;
  readonly query: URLSearchParams;
}

interface CardProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export const Card = ({ title, aside, class: kind = '', children }: CardProps) => (
  <section class={`card ${kind}`} aria-label={title}>
    <div class="row">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
);

/** The names of feeds, as the status has them. */
export const Names = createContext<StatusDocument['names']>([]);

/** A text whose feeds have their names, chain and list, in place of ids, which only commands need. */
export function Named({ text }: { readonly text: string }) {
  const names = useContext(Names);
  const named = (_: string, id: string, list: string) => {
    const chain = names.find(({ feed }) => feed.startsWith(`${id}/`))?.chain_name;
    const label = names.find(({ feed }) => feed.endsWith(`/${list}`))?.label;
    return `${chain ?? `chain ${id}`} ${label ?? list.replaceAll('-', ' ')}`;
  };
  return <>{text.replace(/(?<![\w/])(\d+)\/([a-z][a-z-]*)(?![\w/])/gu, named)}</>;
}

export const FeedLink = ({ feed }: { readonly feed: string }) => (
  <a href={`#/feed/${feed}`} children={<Named text={feed} />} />
);

type LoadedProps<T> = Answer<T> & { readonly children: (data: T) => ComponentChildren };

/** Draws an answer's data, or why it is missing or old. */
export const Loaded = <T,>({ data, problem, children }: LoadedProps<T>) => (
  <>
    {problem !== null && <p role="alert">{problem}</p>}
    {data === null && problem === null && <p class="quiet" aria-busy="true" children="Reading …" />}
    {data !== null && children(data)}
  </>
);

type FactText = string | number | false | null;

/** An exact amount in six digits, with all of them under a pointer. */
export const Amount = ({ exact, symbol = '' }: { exact: string; symbol?: string | null }) => (
  <span title={cell(exact)}>
    {sixDigits(Number(exact))} {symbol}
  </span>
);

/** A term, its value and a note. */
export type Fact = readonly [term: string, value: FactText | VNode, note?: FactText];

/** Facts in columns; omits those without a value. */
export const Facts = ({ facts, class: kind = '' }: { facts: readonly Fact[]; class?: string }) => (
  <dl class={`facts ${kind}`}>
    {facts
      .filter(([, value]) => value)
      .map(([term, value, note]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
          {note ? <dd class="quiet">{note}</dd> : null}
        </div>
      ))}
  </dl>
);

type State = FeedStatus['state'] | RunsDocument['runs'][number]['state'];

/** Red only for action needed, amber for a wait, the accent colour for work. */
export const tones = {
  pending: 'plain',
  running: 'busy',
  current: 'good',
  behind: 'wait',
  failing: 'wait',
  blocked: 'act',
  paused: 'wait',
  unsupported: 'act',
  open: 'busy',
  finished: 'good',
  failed: 'wait',
  interrupted: 'plain',
  superseded: 'plain',
} as const satisfies Record<State, string>;

/** The colour of a chip or a banner. */
export const toneOf = (tone: string): string => `--tone: var(--${tone})`;

/** A run that is open in the database is running to a person. */
export const stateName = (state: State): string => (state === 'open' ? 'running' : state);

export const Chip = ({ state }: { readonly state: State }) => (
  <span class="chip" style={toneOf(tones[state])} children={stateName(state)} />
);

/** A command with a copy button. */
export function Command({ text }: { readonly text: string }) {
  const code = useRef<HTMLElement>(null);
  const [label, setLabel] = useState('Copy');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setLabel('Copied');
    } catch {
      // Without TLS there is no clipboard access: select the text for Ctrl-C.
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
      setLabel('Selected');
    }
    setTimeout(() => setLabel('Copy'), 2_000);
  };
  return (
    <div class="command">
      <code ref={code}>{text}</code>
      <button type="button" aria-label={`Copy: ${text}`} onClick={() => void copy()}>
        <span aria-live="polite">{label}</span>
      </button>
    </div>
  );
}

export interface Advice {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly command: string | null;
}

export const AdviceList = ({ items }: { readonly items: readonly Advice[] }) => (
  <ul class="advice">
    {items.map(({ title, text, command }, at) => (
      <li key={at}>
        <b>{title}</b> {text}
        {command !== null && <Command text={command} />}
      </li>
    ))}
  </ul>
);

/** A column: name, cell, kind, and heading in place of the name. */
export type Column<Row> = readonly [
  name: string,
  of: (row: Row) => ComponentChildren,
  /** A head names its row; on a narrow screen a long cell has its own line. */
  kind?: 'number' | 'head' | 'long' | undefined,
  heading?: ComponentChildren,
];

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly class: string;
}

/** A table; on a narrow screen the rows of a `stacked` one become cards. */
export const Table = <Row,>({ columns, rows, class: layout }: TableProps<Row>) => (
  <table class={layout}>
    <thead>
      <tr>
        {columns.map(([name, , kind, heading = name]) => (
          <th key={name} scope="col" class={kind} children={heading} />
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={at}>
          {columns.map(([name, of, kind]) => {
            const Cell = kind === 'head' ? 'th' : 'td';
            return <Cell key={name} class={kind} data-name={name} children={of(row)} />;
          })}
        </tr>
      ))}
    </tbody>
  </table>
);
