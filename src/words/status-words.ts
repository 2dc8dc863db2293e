/** A time of day, with the day where it is not today's. */
export function clock(at: string, now: string): string {
  const [day = '', time = ''] = new Date(at).toISOString().split('T');
  const minutes = `${time.slice(0, 5)} UTC`;
  return new Date(now).toISOString().startsWith(day) ? minutes : `${day} ${minutes}`;
}
