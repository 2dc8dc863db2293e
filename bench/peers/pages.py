"""The pages of the list, one after the other, over one connection that stays open."""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
import urllib3


@dataclass(frozen=True)
class Input:
    database_url: str
    explorer_url: str
    chain_id: int
    api_key: str
    page_size: int
    # What a killed run leaves for the next one.
    state_dir: str
    # 0: as fast as the explorer answers.
    requests_per_second: int


def read_input() -> Input:
    return Input(**orjson.loads(sys.argv[1]))


def pages(settings: Input) -> Iterator[list[dict]]:
    url = f"{settings.explorer_url}/{settings.chain_id}/api/v2/proxy/account-abstraction/operations"
    fields = {"apikey": settings.api_key, "page_size": str(settings.page_size)}
    # As most HTTP clients do by themselves.
    pool = urllib3.PoolManager(headers={"accept-encoding": "gzip"})
    due = time.monotonic()
    while True:
        if settings.requests_per_second:
            time.sleep(max(0, due - time.monotonic()))
            due = max(due, time.monotonic()) + 1 / settings.requests_per_second
        body = orjson.loads(pool.request("GET", url, fields=fields).data)
        yield body["items"]
        if body["next_page_params"] is None:
            return
        fields["page_token"] = body["next_page_params"]["page_token"]
