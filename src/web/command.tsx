import { useRef, useState } from 'preact/hooks';

const shownMs = 2_000;

/** A command, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  const code = useRef<HTMLElement>(null);
  const [label, setLabel] = useState('Copy');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setLabel('Copied');
    } catch {
      // Without TLS a browser keeps its clipboard to itself: select the text for Ctrl-C.
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
      setLabel('Selected');
    }
    setTimeout(() => setLabel('Copy'), shownMs);
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
