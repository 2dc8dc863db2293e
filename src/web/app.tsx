import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';
import { followStatus, takeToken, type Problem } from './api.ts';
import { Banner, headline, Numbers, Reasons } from './banner.tsx';
import { Explore } from './explore.tsx';
import { Feed } from './feed.tsx';
import { Feeds } from './feeds.tsx';
import { clockWithSeconds } from './format.ts';
import { Runs } from './runs.tsx';
import { Trace } from './trace.tsx';

const views = { feeds: 'Feeds', runs: 'Runs', explore: 'Explore', trace: 'Trace' } as const;

/** `#/feed/10/user-operations?from=1&to=9`: a view, what it shows, and how. */
interface Route {
  readonly view: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

function readRoute(): Route {
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

/** The route, and how often a token came by the address: each time everything starts again. */
function useAddress() {
  const [route, setRoute] = useState(readRoute);
  const [logins, setLogins] = useState(0);
  useEffect(() => {
    const change = () => {
      if (takeToken()) setLogins((times) => times + 1);
      setRoute(readRoute());
    };
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return { route, logins };
}

function Body({ route, status }: { readonly route: Route; readonly status: StatusDocument }) {
  const { view, name, query } = route;
  if (view === 'feed') return <Feed key={name} name={name} query={query} status={status} />;
  if (view === 'runs') return <Runs status={status} />;
  if (view === 'explore') return <Explore name={name} status={status} />;
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

const focusMain = (event: Event) => {
  event.preventDefault();
  document.querySelector('main')?.focus();
};

const Top = ({ view, time }: { readonly view: string; readonly time: string }) => (
  <header class="row wide">
    <a class="skip" href="#main" onClick={focusMain}>
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
    <small>{time}</small>
  </header>
);

function App() {
  const { route, logins } = useAddress();
  const [status, setStatus] = useState<StatusDocument | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const take = (next: StatusDocument) => {
      setStatus(next);
      setProblem(null);
    };
    return followStatus(take, setProblem);
  }, [logins]);
  const title = headline({ status, problem });
  useEffect(() => {
    document.title = `${title} · explorer-etl`;
  }, [title]);
  useEffect(() => scrollTo(0, 0), [route.view, route.name]);
  const isShown = route.view in views && route.view !== 'feed';
  const time = status === null ? '' : `as of ${clockWithSeconds(status.as_of)} UTC`;
  return (
    <>
      <Top view={isShown ? route.view : 'feeds'} time={time} />
      <Banner status={status} problem={problem} />
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
