// The page's only script. Without it everything works by reloading, unless a token is needed.

/** @type {{ morph(this: void, old: Element, content: string, options: object): void }} */
const { morph } = Reflect.get(globalThis, 'Idiomorph');

/** Takes the token from the address, whose fragment no server sees. This tab keeps it. */
function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
  const given = fragment.get('token');
  if (given === null) return false;
  sessionStorage.setItem('token', given.trim());
  history.replaceState(null, '', location.pathname + location.search);
  return true;
}

/** What is sent with each request; null where none is needed. @type {string | null} */
let token = null;

/**
 * @param {string} path
 * @param {AbortSignal | null} [signal]
 */
function request(path, signal = null) {
  const headers = new Headers();
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  return fetch(path, { headers, signal });
}

takeToken();
addEventListener('hashchange', () => {
  if (takeToken()) location.reload();
});

/** @returns whether the page is there: where a token is needed, it came without its data */
async function fill() {
  if (document.body.id !== 'token-page') return true;
  token = sessionStorage.getItem('token');
  if (token === null) return false;
  const answer = await request(`/${location.search}`);
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = page.title;
  document.body.replaceWith(page.body);
  return true;
}

/** Panels that are asked for only when somebody acts: they may cost a second. @type {ReadonlySet<string>} */
const onDemand = new Set(['why', 'explore']);

/** The newest request of each panel: an older one that ends later is stale. @type {Map<string, AbortController>} */
const underWay = new Map();

/**
 * Puts the newest content into a panel. What somebody has opened, focused or written there stays.
 *
 * @param {string} id
 * @param {boolean} isAsked whether somebody waits for it
 */
async function refresh(id, isAsked) {
  const panel = document.getElementById(`${id}-panel`);
  if (panel === null) return;
  underWay.get(id)?.abort();
  const controller = new AbortController();
  underWay.set(id, controller);
  if (isAsked) panel.setAttribute('aria-busy', 'true');
  try {
    const answer = await request(`/panels/${id}${location.search}`, controller.signal);
    if (answer.status === 401) return location.reload();
    if (answer.ok)
      morph(panel, await answer.text(), {
        morphStyle: 'innerHTML',
        ignoreActiveValue: true,
        callbacks: { beforeAttributeUpdated: keepsOpen },
      });
  } catch {
    // A newer request took its place, or the program is away, which the connection says.
  } finally {
    if (underWay.get(id) === controller) {
      underWay.delete(id);
      panel.removeAttribute('aria-busy');
    }
  }
}

/** What somebody has opened is not closed by news. @param {string} name @param {Element} node */
const keepsOpen = (name, node) => !(name === 'open' && node.tagName === 'DETAILS');

const allPanels = () =>
  [...document.querySelectorAll('main > section')].map(({ id }) => id).filter((id) => id !== '');

/** How old ages may be that the charts tell, in ms: to draw them at each look would cost more than to look. */
const longestMs = 60_000;

/** What the panels show, and since when. */
const shown = { facts: '', atMs: -Infinity };

/**
 * Asks for what is new, where somebody looks: for the verdict's times each time, for the rest where there is news.
 *
 * @param {string} facts
 */
function refreshAll(facts) {
  if (document.visibilityState === 'hidden') return;
  const isNews = facts !== shown.facts || performance.now() - shown.atMs >= longestMs;
  if (isNews) Object.assign(shown, { facts, atMs: performance.now() });
  const ids = isNews ? allPanels().filter((id) => !onDemand.has(id)) : ['verdict'];
  for (const id of ids) void refresh(id, false);
}

/** @param {string} text */
const say = (text) => {
  const connection = document.querySelector('#connection');
  if (connection !== null && connection.textContent !== text) connection.textContent = text;
};

/** The program says something each 15 s; after so long, in ms, it is asked anew. */
const silenceMs = 40_000;
const stream = { ending: new AbortController(), heardMs: 0 };

/** Listens anew. An EventSource could not send the token. */
function listen() {
  stream.ending.abort();
  Object.assign(stream, { ending: new AbortController(), heardMs: performance.now() });
  void follow(stream.ending.signal);
}

/** @param {AbortSignal} signal */
async function follow(signal) {
  try {
    const answer = await request('/events', signal);
    if (!answer.ok || answer.body === null) return lose();
    hear();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (text + part.value).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) take(event);
    }
  } catch {
    // The program is away, or silent for too long.
  }
  if (signal.aborted) return;
  // It was not refused: it is tried again soon.
  stream.heardMs = -Infinity;
  lose();
}

/** @param {string} event one of the stream's, as it was sent */
function take(event) {
  hear();
  const data = /^event: changed\ndata: (.*)$/m.exec(event)?.[1];
  if (data === undefined) return;
  const { verdict, facts } = JSON.parse(data);
  document.title = `${verdict.replaceAll('-', ' ')} · explorer-etl`;
  refreshAll(facts);
}

function hear() {
  stream.heardMs = performance.now();
  say('');
}

function lose() {
  say('Not connected. What is shown may be old.');
  document.title = 'not connected · explorer-etl';
}

/**
 * Shows another query of one panel. What other panels were asked meanwhile stays: a panel's links and forms are as
 * old as itself.
 *
 * @param {string} id
 * @param {Iterable<[string, unknown]>} asked
 * @param {boolean} isWhole whether what is not asked is to go
 */
function show(id, asked, isWhole) {
  const url = new URL(location.href);
  const isOwn = (/** @type {string} */ name) => name.startsWith(`${id}-`);
  if (isWhole) {
    for (const name of [...url.searchParams.keys()].filter(isOwn)) url.searchParams.delete(name);
  }
  for (const [name, value] of asked) {
    if (!isOwn(name) || typeof value !== 'string') continue;
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.pushState(null, '', url);
  void refresh(id, true);
}

document.addEventListener('click', (event) => {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const copied = target.closest('[data-copy]');
  if (copied instanceof HTMLElement) void copy(copied);
  const link = target.closest('a[data-panel]');
  const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  // In a chart a link is no element of HTML.
  if (link === null || !isPlain) return;
  event.preventDefault();
  const url = new URL(link.getAttribute('href') ?? '', location.href);
  show(link.getAttribute('data-panel') ?? '', url.searchParams, true);
});

document.addEventListener('submit', (event) => {
  const { target: form } = event;
  if (!(form instanceof HTMLFormElement) || form.dataset['panel'] === undefined) return;
  event.preventDefault();
  show(form.dataset['panel'], new FormData(form), false);
});

addEventListener('popstate', () => {
  for (const id of allPanels()) void refresh(id, true);
});

/** @param {HTMLElement} button */
async function copy(button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '');
    button.textContent = 'Copied';
  } catch {
    // A page that is not served over https may not write to the clipboard.
    const code = button.parentElement?.querySelector('code');
    if (code) getSelection()?.selectAllChildren(code);
    button.textContent = 'Selected';
  }
  setTimeout(() => (button.textContent = before), 2_000);
}

if (await fill()) {
  listen();
  setInterval(() => {
    if (performance.now() - stream.heardMs < silenceMs) return;
    lose();
    listen();
  }, 5_000);
  document.addEventListener('visibilitychange', () => refreshAll(''));
}
