"""Airbyte's CDK: a low-code source as its documentation builds one, its messages as JSON, and a destination that copies."""

import logging
import os
from urllib.parse import urlencode

import orjson
import psycopg
from airbyte_cdk.destinations import Destination
from airbyte_cdk.models import (
    AirbyteConnectionStatus,
    AirbyteMessageSerializer,
    AirbyteStateMessageSerializer,
    ConfiguredAirbyteCatalogSerializer,
    Status,
    Type,
)
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

from measure import Measure
from pages import read_input

settings = read_input()
state_file = os.path.join(settings.state_dir, "state.json")
STREAM = "user_operations"
COLUMNS = ("hash", "block_number", "fee", "status", "entry_point_version", "transaction_hash")
SCHEMA = """
create schema if not exists peer;
create table if not exists peer.user_operations (
  hash text primary key, block_number bigint, fee numeric, status boolean, entry_point_version text,
  transaction_hash text, data jsonb
);
create temp table incoming (like peer.user_operations)
"""
BATCH = 10_000

PATH = f"/{settings.chain_id}/api/v2/proxy/account-abstraction/operations"
PARAMETERS = {"apikey": settings.api_key, "page_size": str(settings.page_size)}
# As a URL: a token alone, two numbers and a comma, would become a list.
NEXT = f"{settings.explorer_url}{PATH}?{urlencode(PARAMETERS)}&page_token="
requester = {"type": "HttpRequester", "url_base": settings.explorer_url, "path": PATH, "request_parameters": PARAMETERS}
manifest = {
    "version": "7.0.0",
    "type": "DeclarativeSource",
    "check": {"type": "CheckStream", "stream_names": [STREAM]},
    "streams": [
        {
            "type": "DeclarativeStream",
            "name": STREAM,
            "primary_key": ["hash"],
            "schema_loader": {"type": "InlineSchemaLoader", "schema": {"type": "object", "additionalProperties": True}},
            "retriever": {
                "type": "SimpleRetriever",
                "requester": requester,
                "record_selector": {"type": "RecordSelector", "extractor": {"type": "DpathExtractor", "field_path": ["items"]}},
                "paginator": {
                    "type": "DefaultPaginator",
                    "page_token_option": {"type": "RequestPath"},
                    "pagination_strategy": {
                        "type": "CursorPagination",
                        "cursor_value": NEXT + "{{ response.next_page_params.page_token }}",
                        "stop_condition": "{{ not response.next_page_params }}",
                    },
                },
            },
        }
    ],
}
if settings.requests_per_second:
    manifest["api_budget"] = {
        "type": "HTTPAPIBudget",
        "policies": [
            {
                "type": "MovingWindowCallRatePolicy",
                "rates": [{"limit": settings.requests_per_second, "interval": "PT1S"}],
                "matchers": [],
            }
        ],
    }


class Postgres(Destination):
    def check(self, logger, config):
        return AirbyteConnectionStatus(status=Status.SUCCEEDED)

    def write(self, config, configured_catalog, input_messages):
        with psycopg.connect(settings.database_url) as connection:
            connection.execute(SCHEMA, prepare=False)
            rows = []
            for message in input_messages:
                if message.type == Type.RECORD:
                    rows.append(message.record.data)
                if len(rows) == BATCH or (message.type == Type.STATE and rows):
                    self.copy(connection, rows)
                    rows = []
                if message.type == Type.STATE:
                    yield message
            self.copy(connection, rows)

    def copy(self, connection, rows):
        with connection.cursor() as cursor:
            with cursor.copy("copy incoming from stdin") as copy:
                for row in rows:
                    copy.write_row([*(row.get(name) for name in COLUMNS), orjson.dumps(row).decode()])
            cursor.execute("insert into peer.user_operations select * from incoming on conflict (hash) do nothing")
            cursor.execute("truncate incoming")
        connection.commit()


def messages(catalog):
    """Over JSON, as the platform passes them from one container to the other."""
    state = []
    if os.path.exists(state_file):
        with open(state_file, "rb") as file:
            state = [AirbyteStateMessageSerializer.load(orjson.loads(file.read()))]
    source = ConcurrentDeclarativeSource(catalog=catalog, config={}, state=state, source_config=manifest)
    for message in source.read(logging.getLogger("bench"), {}, catalog, state):
        line = orjson.dumps(AirbyteMessageSerializer.dump(message))
        yield AirbyteMessageSerializer.load(orjson.loads(line))


def main() -> None:
    logging.disable(logging.CRITICAL)
    stream = {"name": STREAM, "json_schema": {}, "supported_sync_modes": ["full_refresh"]}
    catalog = ConfiguredAirbyteCatalogSerializer.load(
        {"streams": [{"stream": stream, "sync_mode": "full_refresh", "destination_sync_mode": "append"}]}
    )
    measure = Measure()
    for message in Postgres().write({}, catalog, messages(catalog)):
        with open(state_file, "wb") as file:
            file.write(orjson.dumps(AirbyteStateMessageSerializer.dump(message.state)))
    measure.report()


main()
