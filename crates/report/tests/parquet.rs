//! The Parquet files: read back in Rust, and by DuckDB where there is one.
#![cfg(feature = "parquet")]

use std::process::Command;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Encoding, Type};
use ratewire_report::parquet::{Error, MADE_BY, ROW_GROUP, Row, Source, Table, TableCopy, When};
use ratewire_report::{
    ConnectionRow, FlowInfo, FlowRow, GroupRow, LinkInfo, LinkRow, NodeInfo, OverlayInfo, RunInfo,
    SenderRow, Topology, TrafficInfo, Transfer,
};
use ratewire_units::{Bytes, Duration, Throughput, Time};

const ROWS: u64 = ROW_GROUP as u64 + 10_000;

fn info() -> RunInfo {
    let flow = |name: &str| FlowInfo { name: name.into(), law: "xcp".into(), ..Default::default() };
    let node = |name: &str| NodeInfo { name: name.into(), ..NodeInfo::default() };
    let link = LinkInfo { name: "bottleneck".into(), ..LinkInfo::default() };
    RunInfo {
        law: "xcp".into(),
        seed: 7,
        flows: vec![flow("s1"), flow("s2")],
        traffic: vec![TrafficInfo {
            name: "web".into(),
            law: "cubic".into(),
            ..TrafficInfo::default()
        }],
        topology: Topology { nodes: vec![node("h1"), node("h2")], links: vec![link] },
        overlay: Some(OverlayInfo {
            groups: vec!["news".into(), "films".into()],
            senders: vec![(0, 0), (1, 1)],
            ..OverlayInfo::default()
        }),
        ..RunInfo::default()
    }
}

fn flows_file() -> Vec<u8> {
    let mut writer = Table::new(Vec::new(), &info()).unwrap();
    for i in 0..ROWS {
        let sample = FlowRow {
            at: Time::ZERO + Duration::from_millis(10 * i),
            interval: Duration::from_millis(10),
            flow: (i % 2) as u32,
            goodput: Throughput::new(1.25e6),
            cwnd: if i % 2 == 0 { Bytes::new(30_000) } else { Bytes::MAX },
            in_flight: (i % 2 == 0).then(|| Bytes::new(20_000)),
            receive_window: Bytes::MAX,
            ..FlowRow::default()
        };
        let when = When { at: sample.at, interval: sample.interval };
        writer.write(&info(), when, &sample).unwrap();
    }
    writer.finish().unwrap()
}

fn links_file() -> Vec<u8> {
    file(&[LinkRow {
        utilisation: 0.5,
        queue_packets_max: 9,
        drops: 3,
        paused: 0.25,
        ..Default::default()
    }])
}

fn file<R: Row<Begins = When>>(samples: &[R]) -> Vec<u8> {
    let mut table = Table::new(Vec::new(), &info()).unwrap();
    samples.iter().for_each(|sample| table.write(&info(), WHEN, sample).unwrap());
    table.finish().unwrap()
}

const WHEN: When = When { at: Time::from_ps(20_000_000_000), interval: Duration::from_millis(10) };

fn groups_file() -> Vec<u8> {
    let sent = Throughput::new(1000.0);
    file(&[GroupRow { group: 1, sent, sent_messages: 10, delivered_messages: 30 }])
}

fn connections_file() -> Vec<u8> {
    let idle = ConnectionRow { flow: 1, ..ConnectionRow::default() };
    let busy = ConnectionRow {
        flow: 0,
        price: 2.5,
        waiting_mean: 7.5,
        waiting_max: 12,
        data: Bytes::new(14_600),
        control: Bytes::new(90),
    };
    file(&[idle, busy])
}

/// Samples of a sender that has not begun, and of one with no money left.
fn senders_file() -> Vec<u8> {
    let early = SenderRow::default();
    let period = Some(Duration::from_millis(500));
    let sent = Throughput::new(125.0);
    file(&[early, SenderRow { sender: 1, sent, money: Some(0.0), period, blocked: Duration::ZERO }])
}

/// Transfers: a listed flow that completed, an arriving flow that completed, and one that did not.
fn completions_file() -> Vec<u8> {
    let listed = Transfer {
        flow: 1,
        from: 0,
        to: 1,
        size: Bytes::new(50_000),
        took: Some(Duration::from_millis(400)),
        ideal: Some(Duration::from_millis(100)),
        retransmitted: Bytes::new(3_000),
        ..Transfer::default()
    };
    let arrived = Transfer {
        flow: 17,
        traffic: Some(0),
        from: 1,
        to: 0,
        start: Time::ZERO + Duration::from_millis(1500),
        ideal: None,
        ..listed
    };
    let unfinished = Transfer { flow: 18, took: None, ..arrived };
    let mut table = Table::new(Vec::new(), &info()).unwrap();
    for transfer in [listed, arrived, unfinished] {
        table.write(&info(), (), &transfer).unwrap();
    }
    table.finish().unwrap()
}

fn files() -> [(&'static str, Vec<u8>); 6] {
    [
        ("completions", completions_file()),
        ("flows", flows_file()),
        ("links", links_file()),
        ("groups", groups_file()),
        ("connections", connections_file()),
        ("senders", senders_file()),
    ]
}

fn read(file: Vec<u8>) -> (usize, Vec<RecordBatch>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    let groups = reader.metadata().num_row_groups();
    (groups, reader.build().unwrap().map(Result::unwrap).collect())
}

#[test]
fn flows_read_back() {
    let (groups, batches) = read(flows_file());
    assert_eq!(groups, 2);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, ROWS);
    let first = &batches[0];
    let column = |name: &str| first.column_by_name(name).unwrap();
    assert_eq!(column("time_s").as_primitive::<Float64Type>().value(1), 0.01);
    assert_eq!(column("goodput_bps").as_primitive::<Float64Type>().value(0), 1e7);
    let cwnd = column("cwnd_bytes").as_primitive::<UInt64Type>();
    assert_eq!((cwnd.value(0), cwnd.is_null(1)), (30_000, true));
    let in_flight = column("in_flight_bytes").as_primitive::<UInt64Type>();
    assert_eq!((in_flight.value(0), in_flight.is_null(1)), (20_000, true));
    assert_eq!(column("srtt_s").null_count(), first.num_rows());
    let names = column("flow_name").as_dictionary::<UInt32Type>();
    let values = names.values().as_string::<i32>();
    assert_eq!(values.value(names.keys().value(1) as usize), "s2");
}

#[test]
fn links_read_back() {
    let (_, batches) = read(links_file());
    let column = |name: &str| batches[0].column_by_name(name).unwrap();
    assert_eq!(column("time_s").as_primitive::<Float64Type>().value(0), 0.02);
    assert_eq!(column("interval_s").as_primitive::<Float64Type>().value(0), 0.01);
    assert_eq!(column("utilisation").as_primitive::<Float64Type>().value(0), 0.5);
    assert_eq!(column("queue_packets_max").as_primitive::<UInt32Type>().value(0), 9);
    assert_eq!(column("drops_packets").as_primitive::<UInt64Type>().value(0), 3);
    assert_eq!(column("paused").as_primitive::<Float64Type>().value(0), 0.25);
}

/// A value set in place of the scenario's own has a column, and the metadata have the experiment.
#[test]
fn values_that_were_set_and_the_experiment_read_back() {
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    let of = |rate: &str| {
        let values = vec![pair("bottleneck.rate", rate), pair("seed", "7"), pair("link", "[]")];
        let made_by = format!("{{ \"rate\": \"{rate}\" }}\n");
        let info = RunInfo { values, made_by, ..info() };
        let mut table = Table::new(Vec::new(), &info).unwrap();
        table.write(&info, WHEN, &LinkRow::default()).unwrap();
        table.finish().unwrap()
    };
    let names = |batch: &RecordBatch| -> Vec<String> {
        batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    };
    let made_by = |file: &[u8]| {
        let file = bytes::Bytes::copy_from_slice(file);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let pairs = reader.metadata().file_metadata().key_value_metadata().cloned();
        let own = pairs.unwrap().into_iter().find(|pair| pair.key == MADE_BY);
        own.unwrap().value.unwrap()
    };
    let (slow, fast) = (of("1M"), of("2M"));
    assert_eq!(made_by(&slow), "{ \"rate\": \"1M\" }");
    let batches = [&slow, &fast].map(|file| read(file.clone()).1).concat();
    assert_eq!(names(&batches[0])[3..8], ["law", "seed", "bottleneck.rate", "set.link", "link"]);
    let column = batches[1]["bottleneck.rate"].as_dictionary::<UInt32Type>();
    assert_eq!(column.values().as_string::<i32>().value(column.keys().value(0) as usize), "2M");
    // A copy of one table is the table; one of several says what made each.
    let one = copied::<LinkRow>(&[&slow], &[&made_by(&slow)]).unwrap();
    assert_eq!(one, slow);
    let both = copied::<LinkRow>(&[&slow, &fast], &["{}", "{ }\n"]).unwrap();
    assert_eq!(made_by(&both), "[{},\n{ }]");
    assert_eq!(read(both).1[0].num_rows(), 2);
}

fn copied<R: Row>(tables: &[&[u8]], made_by: &[&str]) -> Result<Vec<u8>, Error> {
    let made_by = made_by.iter().map(|text| text.to_string()).collect();
    let mut copy = TableCopy::<R, _>::new(Vec::new(), made_by);
    for table in tables {
        copy = copy.append(Source::Memory(bytes::Bytes::copy_from_slice(table)))?;
    }
    copy.finish()
}

/// Row groups of a copy are as full as those of a table, and no row is lost between them.
#[test]
fn a_copy_of_tables_has_all_rows_in_full_row_groups() {
    let table = flows_file();
    let copy = copied::<FlowRow>(&[&table, &table, &table], &["", "", ""]).unwrap();
    let (groups, batches) = read(copy);
    assert_eq!((groups, 3 * ROWS as usize / ROW_GROUP + 1), (4, 4));
    let once = read(table).1;
    let rows = |batches: &[RecordBatch]| {
        let columns = |batch: &RecordBatch| {
            let cells = |name: &str| batch[name].as_primitive::<UInt64Type>().iter();
            let times = batch["time_s"].as_primitive::<Float64Type>().iter();
            let names = batch["flow_name"].as_dictionary::<UInt32Type>().clone();
            let names = names.downcast_dict::<StringArray>().unwrap();
            let names = names.into_iter().map(|name| name.unwrap().to_string());
            let rows = times.zip(names.collect::<Vec<_>>()).zip(cells("cwnd_bytes"));
            rows.collect::<Vec<_>>()
        };
        batches.iter().flat_map(columns).collect::<Vec<_>>()
    };
    assert_eq!(rows(&batches), [rows(&once), rows(&once), rows(&once)].concat());
}

/// An empty copy is an empty table; a table of another kind, or damaged, is refused.
#[test]
fn a_copy_takes_tables_of_one_kind() {
    let none = copied::<LinkRow>(&[], &[]).unwrap();
    assert_eq!(read(none).1.len(), 0);
    let (links, groups) = (links_file(), groups_file());
    let other = copied::<LinkRow>(&[&links, &groups], &[]);
    assert!(matches!(other, Err(Error::Columns(_))), "{:?}", other.map(|file| file.len()));
    let half = copied::<LinkRow>(&[&links[..links.len() / 2]], &[]);
    assert!(matches!(half, Err(Error::Source(_))), "{:?}", half.map(|file| file.len()));
}

/// A table that another program has written again, with nulls wherever it may, is copied as it is.
#[test]
fn a_copy_takes_tables_that_others_have_written_again() {
    let names: StringArray = (0..5_000).map(|i| (i % 3 > 0).then(|| format!("{i}"))).collect();
    let counts: UInt64Array = (0..5_000).map(|i| (i % 7 > 0).then_some(u64::MAX - i)).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("group_name", Arc::new(names)), ("sent_messages", Arc::new(counts))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let table = writer.into_inner().unwrap();
    let tables = [&table[..]; 20];
    let (groups, rows) = read(copied::<GroupRow>(&tables, &[]).unwrap());
    assert_eq!(groups, 2);
    let mut at = 0;
    for part in rows {
        for row in 0..part.num_rows() {
            let of = |batch: &RecordBatch, row| {
                let name = batch["group_name"].as_string::<i32>();
                let count = batch["sent_messages"].as_primitive::<UInt64Type>();
                let count = count.is_valid(row).then(|| count.value(row));
                (name.is_valid(row).then(|| name.value(row).to_string()), count)
            };
            assert_eq!(of(&part, row), of(&batch, at % 5_000), "row {at}");
            at += 1;
        }
    }
    assert_eq!(at, 100_000);
}

/// Rows and types are those of a file that Arrow's own writer makes of them.
#[test]
fn files_are_those_of_the_writer_of_arrow() {
    for (name, file) in files() {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
        let own = reader.metadata().file_metadata().clone();
        let schema = Arc::new(Schema::new(reader.schema().fields().clone()));
        let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        let again = bytes::Bytes::from(writer.into_inner().unwrap());
        let again = ParquetRecordBatchReaderBuilder::try_new(again).unwrap();
        assert_eq!(own.schema(), again.metadata().file_metadata().schema(), "{name}");
        let rows = |batch: &RecordBatch| batch.columns().to_vec();
        let again: Vec<RecordBatch> = again.build().unwrap().map(Result::unwrap).collect();
        let [own, again] = [&batches, &again].map(|all| all.iter().map(rows).collect::<Vec<_>>());
        assert_eq!(own, again, "{name}");
    }
}

#[test]
fn senders_read_back() {
    let (_, batches) = read(senders_file());
    let column = |name: &str| batches[0].column_by_name(name).unwrap();
    let money = column("money_dollars").as_primitive::<Float64Type>();
    assert!(money.is_null(0) && money.is_valid(1) && money.value(1) == 0.0);
    assert_eq!(column("period_s").as_primitive::<Float64Type>().value(1), 0.5);
}

#[test]
fn completions_read_back() {
    let (_, batches) = read(completions_file());
    let column = |name: &str| batches[0].column_by_name(name).unwrap();
    let took = column("completion_s").as_primitive::<Float64Type>();
    assert_eq!((took.value(0), took.is_null(2)), (0.4, true));
    let slowdown = column("slowdown").as_primitive::<Float64Type>();
    assert_eq!((slowdown.value(0), slowdown.null_count()), (4.0, 2));
    assert_eq!(column("size_bytes").as_primitive::<UInt64Type>().values(), &[50_000; 3]);
    let laws = column("flow_law").as_dictionary::<UInt32Type>();
    let law = |row| laws.values().as_string::<i32>().value(laws.keys().value(row) as usize);
    assert_eq!((law(0), law(1)), ("xcp", "cubic"));
}

#[test]
fn the_documentation_lists_every_column() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/files.md");
    let text = std::fs::read_to_string(path).unwrap();
    for (name, file) in files() {
        let (_, batches) = read(file);
        let schema = batches[0].schema();
        let columns: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let list = text.split(&format!("- `{name}.parquet`: ")).nth(1);
        let list = list.map(|list| list.split("\n-").next().unwrap());
        // The documentation has columns as a table, after the columns of all files.
        let table = text.split(&format!("| `{name}.parquet` | unit |")).nth(1);
        let rows = table.map(|table| {
            // The rows below the table's head.
            let rows = table.split("\n\n").next().unwrap().lines().skip(2);
            let first = std::iter::once("time_s, interval_s, world, law, seed");
            let rows = first.chain(rows.map(|row| row.split('|').nth(1).unwrap()));
            rows.collect::<Vec<_>>().join(",")
        });
        let documented = list.map(String::from).or(rows).expect(name);
        let documented: Vec<&str> =
            documented.split("\n\n").next().unwrap().split(',').map(str::trim).collect();
        assert_eq!(documented, columns, "{name}");
    }
}

/// DuckDB before 2.0 reads byte-stream split of floating-point columns only.
#[test]
fn columns_are_encoded_as_others_read_them() {
    for (name, file) in files() {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
        for column in reader.metadata().row_group(0).columns() {
            let is_split = column.encodings().any(|e| e == Encoding::BYTE_STREAM_SPLIT);
            let is_float = column.column_type() == Type::DOUBLE;
            assert!(!is_split || is_float, "{} of {name}", column.column_path());
        }
    }
}

#[test]
fn the_same_samples_give_the_same_bytes() {
    assert_eq!(flows_file(), flows_file());
}

#[test]
fn an_empty_file_is_a_file() {
    assert_eq!(read(file::<FlowRow>(&[])).1.len(), 0);
}

/// DuckDB reads what we write. Skipped with a message where Python has no `duckdb`. Set
/// `RATEWIRE_REQUIRE_TOOLS=1` to fail instead, `RATEWIRE_PYTHON` to choose the interpreter.
#[test]
fn duckdb_reads_them() {
    let python = std::env::var("RATEWIRE_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !found.is_ok_and(|o| o.status.success()) {
        let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
        assert!(!required, "{python} has no duckdb, and RATEWIRE_REQUIRE_TOOLS is 1");
        println!("skipped: {python} has no duckdb (set RATEWIRE_PYTHON to one that has)");
        return;
    }
    let folder = std::env::temp_dir().join(format!("ratewire-parquet-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, file) in files() {
        std::fs::write(folder.join(format!("{name}.parquet")), file).unwrap();
    }
    let query = "import duckdb\n\
        q = lambda text: duckdb.sql(text).fetchall()\n\
        print(q(\"select flow_name, world, law, seed, count(*), count(cwnd_bytes), avg(goodput_bps) \
        from 'flows.parquet' group by all order by all\"))\n\
        print(q(\"select link_name, utilisation, drops_packets, paused from 'links.parquet'\"))\n\
        print(q(\"select group_name, sent_bps, delivered_messages / sent_messages from 'groups.parquet'\"))\n\
        print(q(\"select distinct flow_name, price_dollars, waiting_messages_max, data_bytes, control_bytes \
        from 'connections.parquet' join 'flows.parquet' using (flow, flow_name) order by all\"))\n\
        print(q(\"select host_name, group_name, sent_bps, money_dollars from 'senders.parquet'\"))\n\
        print(q(\"select law, seed, flow, flow_name, flow_law, from_name, to_name, size_bytes, start_s, completion_s, \
        ideal_s, slowdown, retransmitted_bytes from 'completions.parquet'\"))\n";
    let out = Command::new(&python).args(["-c", query]).current_dir(&folder).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    let half = ROWS / 2;
    let expected = format!(
        "[('s1', 'simulate', 'xcp', 7, {half}, {half}, 10000000.0), ('s2', 'simulate', 'xcp', 7, {half}, 0, 10000000.0)]\n\
         [('bottleneck', 0.5, 3, 0.25)]\n\
         [('films', 8000.0, 3.0)]\n\
         [('s1', 2.5, 12, 14600, 90), ('s2', 0.0, 0, 0, 0)]\n\
         [('h1', 'news', 0.0, None), ('h2', 'films', 1000.0, 0.0)]\n\
         [('xcp', 7, 1, 's2', 'xcp', 'h1', 'h2', 50000, 0.0, 0.4, 0.1, 4.0, 3000), \
         ('xcp', 7, 17, 'web', 'cubic', 'h2', 'h1', 50000, 1.5, 0.4, None, None, 3000), \
         ('xcp', 7, 18, 'web', 'cubic', 'h2', 'h1', 50000, 1.5, None, None, None, 3000)]\n"
    );
    assert_eq!(text, expected, "{}", String::from_utf8_lossy(&out.stderr));
}
