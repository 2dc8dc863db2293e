import { type FunctionComponent, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';
import { statusPace, takeToken, useJson, wrongToken } from './api.ts';
import { Explore } from './explore.tsx';
import { Feed } from './feed.tsx';
import { Banner, headline, Overview } from './overview.tsx';
import { Named, Names, type ViewProps } from './parts.tsx';
import { Runs } from './runs.tsx';
import { Trace } from './trace.tsx';

/** `#/feed/10/user-operations?from=1&to=9`: view, name, parameters. */
function readRoute() {
  const [path = '', query] = location.hash.replace(/^#\/?/u, '').split('?');
  const [view = '', ...rest] = path.split('/');
  return { view, name: rest.join('/'), query: new URLSearchParams(query) };
}

/** The views of the navigation, by the first part of the route. */
const views = new Map<string, readonly [title: string, view: FunctionComponent<ViewProps>]>([
  ['feeds', ['Feeds', Overview]],
  ['runs', ['Runs', Runs]],
  ['explore', ['Explore', Explore]],
  ['trace', ['Trace', Trace]],
]);

const skip = (event: Event) => {
  event.preventDefault();
  document.querySelector('main')?.focus();
};

const Top = ({ view }: { readonly view: string }) => (
  <header class="row wide">
    <a class="skip" href="#main" onClick={skip}>
      Skip to the content
    </a>
    <b>explorer-etl</b>
    <nav class="row" aria-label="Views">
      {[...views].map(([name, [title]]) => (
        <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  </header>
);

function App() {
  const [route, setRoute] = useState(readRoute);
  const answer = useJson<StatusDocument>('status.json', {}, statusPace);
  const { data: status, problem } = answer;
  const title = headline(answer);
  const [heading, view] = views.get(route.view) ?? [route.name || 'Feeds', Overview];
  const View = route.view === 'feed' ? Feed : view;
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
    <Names.Provider value={status?.names ?? []}>
      <Top view={views.has(route.view) ? route.view : 'feeds'} />
      <Banner {...answer} />
      <main id="main" class="wide" tabIndex={-1}>
        {status !== null && problem !== wrongToken && (
          <>
            <h1 class="hidden" children={<Named text={heading} />} />
            <View key={route.view === 'explore' ? '' : route.name} {...route} status={status} />
          </>
        )}
      </main>
    </Names.Provider>
  );
}

takeToken();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
