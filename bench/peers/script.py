"""The loader that somebody writes in an afternoon: two tables, a transaction a page, no ledger, no verification.

It reads the next page while this one is written, names its statements, and sends a column as one array.
"""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from measure import Measure
from pages import pages, read_input

SCHEMA = """
create schema if not exists peer;
create table if not exists peer.addresses (
  chain_id bigint, hash text collate "C", name text, is_contract boolean, is_verified boolean,
  proxy_type text, reputation text, primary key (chain_id, hash)
);
create table if not exists peer.user_operations (
  chain_id bigint, hash text collate "C", block_number bigint, timestamp timestamptz, status boolean,
  address_hash text collate "C", entry_point_hash text collate "C", entry_point_version text,
  transaction_hash text collate "C", fee numeric, primary key (chain_id, hash)
);
create index if not exists peer_block on peer.user_operations (chain_id, block_number, hash);
create index if not exists peer_address on peer.user_operations (address_hash, chain_id);
create index if not exists peer_time on peer.user_operations (timestamp desc nulls first, chain_id);
create index if not exists peer_transaction on peer.user_operations using hash (transaction_hash);
create index if not exists peer_untimed on peer.user_operations (chain_id, block_number) where timestamp is null;
"""

ADDRESSES = """
insert into peer.addresses as t
select %s, * from unnest(%s::text[], %s::text[], %s::boolean[], %s::boolean[], %s::text[], %s::text[])
on conflict (chain_id, hash) do update
set name = excluded.name, is_contract = excluded.is_contract, is_verified = excluded.is_verified,
    proxy_type = excluded.proxy_type, reputation = excluded.reputation
where excluded.is_verified is not null
  and (t.name, t.is_contract, t.is_verified, t.proxy_type, t.reputation)
      is distinct from
      (excluded.name, excluded.is_contract, excluded.is_verified, excluded.proxy_type, excluded.reputation)
"""

OPERATIONS = """
insert into peer.user_operations
select %s, * from unnest(
  %s::text[], %s::bigint[], %s::timestamptz[], %s::boolean[], %s::text[], %s::text[], %s::text[],
  %s::text[], %s::numeric[]
)
on conflict (chain_id, hash) do nothing
"""


def columns(rows: list[tuple]) -> list[list]:
    return [list(column) for column in zip(*rows)]


def hash_of(shown: dict | str | None) -> str | None:
    """Of an address nobody knows anything of, the explorer shows the bare hash."""
    if shown is None:
        return None
    return (shown if isinstance(shown, str) else shown["hash"]).lower()


def address_of(shown: dict | str) -> tuple:
    if isinstance(shown, str):
        return (hash_of(shown), None, None, None, None, None)
    values = (shown.get(name) for name in ("name", "is_contract", "is_verified", "proxy_type", "reputation"))
    return (hash_of(shown), *values)


def operation_of(item: dict) -> tuple:
    return (
        item["hash"],
        item.get("block_number"),
        item.get("timestamp"),
        item.get("status"),
        hash_of(item.get("address")),
        hash_of(item.get("entry_point")),
        item.get("entry_point_version"),
        item.get("transaction_hash"),
        item.get("fee"),
    )


def main() -> None:
    settings = read_input()
    with psycopg.connect(settings.database_url, prepare_threshold=1) as connection:
        connection.execute(SCHEMA, prepare=False)
        connection.commit()
        measure = Measure()
        with ThreadPoolExecutor(max_workers=1) as reader:
            walk = pages(settings)
            coming = reader.submit(next, walk, None)
            while (items := coming.result()) is not None:
                coming = reader.submit(next, walk, None)
                shown = (item.get(field) for item in items for field in ("address", "entry_point"))
                addresses = {row[0]: row for row in map(address_of, filter(None, shown))}
                rows = [addresses[key] for key in sorted(addresses)]
                connection.execute(ADDRESSES, [settings.chain_id, *columns(rows)])
                connection.execute(OPERATIONS, [settings.chain_id, *columns([operation_of(item) for item in items])])
                connection.commit()
        measure.report()


main()
