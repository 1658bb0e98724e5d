"""Tables are taken by dataframes and databases as they are, without a copy."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ratewire


def test_all_readers_have_the_same_rows(results: ratewire.Results) -> None:
    table = results.flows
    arrow = pa.table(table)
    assert arrow.num_rows == len(table) > 100
    assert arrow.column_names == table.column_names
    assert pl.DataFrame(table).height == len(table)
    assert len(pd.DataFrame.from_arrow(table)) == len(table)
    flows = table  # noqa: F841  # DuckDB finds the table by the variable's name.
    counted = duckdb.sql("SELECT count(*) FROM flows")
    assert counted is not None
    assert counted.fetchall() == [(len(table),)]


def test_values_are_those_of_the_runs(results: ratewire.Results) -> None:
    flows = pl.DataFrame(results.flows)
    assert flows["law"].unique().sort().to_list() == ["cubic", "xcp"]
    assert set(flows["seed"].unique()) == {1}
    last = flows["time_s"].max()
    assert last == pytest.approx(2.0)
    links = pl.DataFrame(results.links)
    busy = links.filter((pl.col("link_name") == "bottleneck") & (pl.col("law") == "xcp"))
    mean = busy["utilisation"].mean()
    told = next(link for link in results.summary.run("xcp").links if link.name == "bottleneck")
    assert mean == pytest.approx(told.utilisation, abs=0.02)


def test_a_table_is_read_twice_and_outlives_its_results(small: object) -> None:
    table = ratewire.run(str(small), law="xcp").completions
    first, second = pa.table(table), pa.table(table)
    assert first.equals(second)
    assert first.num_rows == 1


def test_columns_share_the_memory_of_the_table(results: ratewire.Results) -> None:
    places = [
        pa.table(results.flows).column("time_s").chunk(0).buffers()[1].address for _ in range(2)
    ]
    assert places[0] == places[1], "two readers got two copies"


def test_the_schema_alone(results: ratewire.Results) -> None:
    schema = pa.schema(results.links)
    assert schema.names == results.links.column_names
    assert schema.field("time_s").type == pa.float64()


def test_empty_tables_have_columns(results: ratewire.Results) -> None:
    assert len(results.groups) == 0
    assert "group" in " ".join(pa.table(results.groups).column_names)


def test_values_that_were_set_are_columns(small: object) -> None:
    results = ratewire.run(str(small), law="xcp", set={"bottleneck.rate": "5 Mbit/s"})
    assert "bottleneck.rate" in results.links.column_names
