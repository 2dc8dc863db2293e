import type { ComponentChildren } from 'preact';
import type { Answer } from './api.ts';

interface CardProps {
  readonly title: string;
  /** The heading of the view, not of a part of it. */
  readonly isMain?: boolean;
  readonly aside?: ComponentChildren;
  readonly tone?: string;
  readonly children: ComponentChildren;
}

/** A part of a view, with its heading. */
export function Card({ title, isMain = false, aside, tone = '', children }: CardProps) {
  const Heading = isMain ? 'h1' : 'h2';
  return (
    <section class={`card ${tone}`} aria-label={title}>
      <div class="row">
        <Heading>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface LoadedProps<T> {
  readonly answer: Answer<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** What is drawn of an answer once it is there; why it is not, or not renewed. */
export const Loaded = <T,>({ answer: { data, problem }, children }: LoadedProps<T>) => (
  <>
    {problem !== null && <p role="alert">{problem.sentence}</p>}
    {data === null ? <p class="quiet">{problem === null && 'Reading …'}</p> : children(data)}
  </>
);

/** A term, and what is known of it; an empty one is left out. */
export type Fact = readonly [term: string, text: string];

export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts
      .filter(([, text]) => text !== '')
      .map(([term, text]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{text}</dd>
        </div>
      ))}
  </dl>
);
