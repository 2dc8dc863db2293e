import { BlockList, isIP } from 'node:net';

/** Where a server listens. */
export interface Address {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only programs of this machine reach it. */
export function isLoopback({ host }: Pick<Address, 'host'>): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** As it stands in a URL. */
export const spellAddress = ({ host, port }: Address): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
