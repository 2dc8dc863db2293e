import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';
import { statusPace, takeToken, useJson, wrongToken } from './api.ts';
import { Explore } from './explore.tsx';
import { Feed } from './feed.tsx';
import { Banner, headline, Overview } from './overview.tsx';
import { clockWithSeconds } from './format.ts';
import type { ViewProps } from './parts.tsx';
import { Runs } from './runs.tsx';
import { Trace } from './trace.tsx';

/** `#/feed/10/user-operations?from=1&to=9`: view, name, parameters. */
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

const titles: Readonly<Record<string, string>> = {
  feeds: 'Feeds',
  runs: 'Runs',
  explore: 'Explore',
  trace: 'Trace',
};

function View({ view, ...props }: ViewProps & { readonly view: string }) {
  const { name } = props;
  if (view === 'feed') return <Feed key={name} {...props} />;
  if (view === 'runs') return <Runs {...props} />;
  if (view === 'explore') return <Explore {...props} />;
  if (view === 'trace') return <Trace key={name} {...props} />;
  return <Overview {...props} />;
}

const skip = (event: Event) => {
  event.preventDefault();
  document.querySelector('main')?.focus();
};

const Top = ({ view, asOf }: { readonly view: string; readonly asOf: string | undefined }) => (
  <header class="row wide">
    <a class="skip" href="#main" onClick={skip}>
      Skip to the content
    </a>
    <b>explorer-etl</b>
    <nav class="row" aria-label="Views">
      {Object.entries(titles).map(([name, title]) => (
        <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
    <small>{asOf !== undefined && `as of ${clockWithSeconds(asOf)} UTC`}</small>
  </header>
);

function App() {
  const [route, setRoute] = useState(readRoute);
  const answer = useJson<StatusDocument>('status.json', {}, statusPace);
  const { data: status, problem } = answer;
  const title = headline(answer);
  useEffect(() => {
    addEventListener('hashchange', () => {
      if (takeToken()) location.reload();
      else setRoute(readRoute());
    });
  }, []);
  useEffect(() => {
    document.title = `${title} · explorer-etl`;
  }, [title]);
  useEffect(() => scrollTo(0, 0), [route.view, route.name]);
  return (
    <>
      <Top view={route.view in titles ? route.view : 'feeds'} asOf={status?.as_of} />
      <Banner {...answer} />
      <main id="main" class="wide" tabIndex={-1}>
        {status !== null && problem !== wrongToken && (
          <>
            <h1 class="hidden">{titles[route.view] ?? (route.name || 'Feeds')}</h1>
            <View {...route} status={status} />
          </>
        )}
      </main>
    </>
  );
}

takeToken();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
