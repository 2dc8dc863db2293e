"""dlt as its documentation says for speed: csv files, two workers, nested values as tables of their own."""

import os

from pages import pages, read_input

settings = read_input()
os.environ.update(
    {
        "DESTINATION__POSTGRES__CREDENTIALS": settings.database_url,
        "NORMALIZE__WORKERS": "2",
        "NORMALIZE__DATA_WRITER__FILE_MAX_ITEMS": "50000",
        "LOAD__WORKERS": "2",
        "RUNTIME__LOG_LEVEL": "CRITICAL",
        "RUNTIME__DLTHUB_TELEMETRY": "false",
    }
)

import dlt  # noqa: E402  after its settings

from measure import Measure  # noqa: E402


def main() -> None:
    pipeline = dlt.pipeline(
        "peer",
        destination="postgres",
        dataset_name="peer",
        pipelines_dir=settings.state_dir,
    )
    resource = dlt.resource(pages(settings), name="user_operations", primary_key="hash", write_disposition="append")
    measure = Measure()
    pipeline.run(resource, loader_file_format="csv")
    measure.report()


if __name__ == "__main__":
    main()
