"""Operations a day and chain, as a chart: pandas over SQL.

    pip install pandas matplotlib sqlalchemy "psycopg[binary]"
    DATABASE_URL=$(explorer-etl db url) python operations_a_day.py

The address is that of the embedded Postgres (`explorer-etl db start`; of the demo with `db url --demo`), or of
your own server. A user with the role explorer_etl_analyst reads all that is needed.
"""

import os

import pandas as pd
from sqlalchemy import create_engine

url = os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg://", 1)
daily = pd.read_sql(
    """select day, name as chain, sum(operations) as operations, sum(failed) as failed
       from explorer.operations_daily join explorer.chains using (chain_id)
       group by day, name order by day""",
    create_engine(url),
    parse_dates=["day"],
)
chart = daily.pivot(index="day", columns="chain", values="operations").plot(
    title="User operations a day", ylabel="operations", figsize=(9, 4)
)
chart.figure.savefig("operations_a_day.png", dpi=110, bbox_inches="tight")
print(daily.groupby("chain")[["operations", "failed"]].sum())
