import { z } from 'zod';

/** Which feed a part of a document is about. */
export const feedFields = {
  feed: z.string().describe("The feed's name, such as 10/user-operations."),
  chain_id: z.int().describe('Number of its chain.'),
  operation: z.string().describe('Name of the list that it copies.'),
};
