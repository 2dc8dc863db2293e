import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';
import { followStatus, takeToken, type Answer } from './api.ts';
import { Banner, headline, Numbers, Reasons } from './banner.tsx';
import { Explore } from './explore.tsx';
import { Feed } from './feed.tsx';
import { Feeds } from './feeds.tsx';
import { clockWithSeconds } from './format.ts';
import { Runs } from './runs.tsx';
import { Trace } from './trace.tsx';

const views = { feeds: 'Feeds', runs: 'Runs', explore: 'Explore', trace: 'Trace' } as const;

/** `#/feed/10/user-operations?from=1&to=9`: a view, what it shows, and how. */
function readRoute() {
  const [path = '', query] = location.hash.replace(/^#\/?/u, '').split('?');
  const [view = '', ...rest] = path.split('/');
  return { view, name: decode(rest.join('/')), query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface BodyProps {
  readonly route: ReturnType<typeof readRoute>;
  readonly status: StatusDocument;
}

function Body({ route: { view, name, query }, status }: BodyProps) {
  if (view === 'feed') return <Feed key={name} name={name} query={query} status={status} />;
  if (view === 'runs') return <Runs status={status} />;
  if (view === 'explore') return <Explore name={name} chains={status.feeds} />;
  if (view === 'trace') return <Trace key={name} term={name} status={status} />;
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <Numbers status={status} />
      <Reasons reasons={status.reasons} />
      <Feeds status={status} />
    </>
  );
}

const skip = (event: Event) => {
  event.preventDefault();
  document.querySelector('main')?.focus();
};

const Top = ({ view, status }: { view: string; status: StatusDocument | null }) => (
  <header class="row wide">
    <a class="skip" href="#main" onClick={skip}>
      Skip to the content
    </a>
    <b>explorer-etl</b>
    <nav class="row" aria-label="Views">
      {Object.entries(views).map(([name, title]) => (
        <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
    <small>{status !== null && `as of ${clockWithSeconds(status.as_of)} UTC`}</small>
  </header>
);

function App() {
  const [route, setRoute] = useState(readRoute);
  const [logins, setLogins] = useState(0);
  const [answer, setAnswer] = useState<Answer<StatusDocument>>({ data: null, problem: null });
  const { data: status, problem } = answer;
  const title = headline(answer);
  useEffect(() => {
    const change = () => {
      // Each token that comes by the address starts everything again.
      if (takeToken()) setLogins((times) => times + 1);
      setRoute(readRoute());
    };
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  useEffect(
    () => followStatus((next) => setAnswer(({ data }) => ({ ...next, data: next.data ?? data }))),
    [logins],
  );
  useEffect(() => {
    document.title = `${title} · explorer-etl`;
  }, [title]);
  useEffect(() => scrollTo(0, 0), [route.view, route.name]);
  return (
    <>
      <Top view={route.view in views ? route.view : 'feeds'} status={status} />
      <Banner {...answer} />
      <main id="main" class="wide" tabIndex={-1}>
        {status !== null && problem?.kind !== 'token' && (
          <Body key={logins} route={route} status={status} />
        )}
      </main>
    </>
  );
}

takeToken();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
