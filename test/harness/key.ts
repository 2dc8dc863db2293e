/** The key that simulated explorers accept unless they are told another. */
export const testKey = 'simulated-key';
