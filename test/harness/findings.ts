import { findingText } from '../../src/words/finding-text.ts';
import { noteText } from '../../src/words/note-text.ts';
import type { FeedProof } from '../../src/report/proof.ts';

/** A proof with its findings and notes as the sentences that people read. */
export const inWords = (proof: FeedProof) => ({
  ...proof,
  head: proof.head.map(findingText),
  open: proof.open.map(findingText),
  notes: proof.notes.map(noteText),
});

/** What is open of feeds, as the sentences that people read. */
export const openInWords = (proofs: readonly FeedProof[]): string[] =>
  proofs.flatMap((proof) => inWords(proof).open);
