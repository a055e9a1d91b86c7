use crate::index::who_key;
use crate::memory::{Record, Scope, Timestamp};
use crate::snapshot::{IndexConfig, Segment, SnapshotBuilder};

const TEXTS: [&str; 12] = [
    "The kiln for the pottery class broke during glaze firing.",
    "Pottery class moved to Tuesday because the kiln needs a new element.",
    "New glaze recipe from the pottery class needs a hotter kiln.",
    "Kiln shelves in the pottery studio are cracked by glaze drips.",
    "Kafka consumer lag grew after the partition rebalance.",
    "The partition rebalance of Kafka is slow when a consumer restarts.",
    "Consumer lag rings an alert when Kafka drops a partition.",
    "Raise the Kafka partition count so that consumer lag stays low.",
    "Ana keeps bees near the orchard.",
    "The orchard bees swarmed in May and Ana caught them.",
    "Honey from the orchard bees won a prize.",
    "My bicycle has a flat tyre.",
];

fn records(scope: &Scope, prefix: &str) -> Vec<Record> {
    let record = |(at, text): (usize, &&str)| Record {
        scope: scope.clone(),
        created: Some(Timestamp(at as i64)),
        entities: if text.contains("Ana") { vec!["Ana".into()] } else { Vec::new() },
        ..Record::new(format!("{prefix}{at}"), *text)
    };
    TEXTS.iter().enumerate().map(record).collect()
}

fn build(records: Vec<Record>, slice: usize) -> Vec<u8> {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
    records.into_iter().for_each(|record| builder.add(record).unwrap());
    let mut progress = 0.0;
    while !builder.step(slice) {
        assert!(builder.progress() >= progress, "{} after {progress}", builder.progress());
        progress = builder.progress();
    }
    assert_eq!(builder.progress(), 1.0);
    builder.finish().unwrap()
}

fn segment(records: Vec<Record>) -> Segment {
    Segment::from_bytes(build(records, 100)).unwrap()
}

fn of_one_kind(record: u32) -> std::ops::Range<u32> {
    let start = record / 4 * 4;
    start..start + 4
}

#[test]
fn near_texts_are_neighbours_and_make_communities() {
    let segment = segment(records(&Scope::global(), ""));
    let links = segment.links();
    for record in 0..11 {
        let near: Vec<(u32, u8)> = links.neighbours_of(record).collect();
        assert!(near.len() >= 2, "{record}: {near:?}");
        assert!(near.iter().all(|(other, _)| of_one_kind(record).contains(other)), "{record}: {near:?}");
        assert!(near.is_sorted_by(|a, b| a.1 >= b.1));
        assert!(links.community_of(record).is_some());
        assert_eq!(links.community_of(record), links.community_of(of_one_kind(record).start));
    }
    assert_eq!((links.neighbours_of(11).count(), links.community_of(11)), (0, None));
    assert_eq!(links.community_count(), 3);
    let ana = links.entities_of_key(&who_key("ANA")).next().unwrap();
    // Of equal importance the latest comes first.
    assert_eq!(links.records_of(ana).iter().collect::<Vec<_>>(), [9, 8]);
    assert!(links.entities_of(8).iter().eq([ana]));
}

#[test]
fn nothing_is_linked_across_a_scope() {
    let scopes = [Scope::global(), Scope::global().with("user", "ana"), Scope::global().with("user", "bo")];
    let all = scopes.iter().enumerate().flat_map(|(at, scope)| records(scope, &format!("{at}-"))).collect();
    let segment = segment(all);
    let links = segment.links();
    let scope = |record: u32| segment.facts(record).unwrap().scope;
    for record in 0..segment.len() as u32 {
        assert!(links.neighbours_of(record).all(|(other, _)| scope(other) == scope(record)));
        for entity in links.entities_of(record).iter() {
            assert!(links.records_of(entity).iter().all(|other| scope(other) == scope(record)));
        }
    }
    assert_eq!(links.community_count(), 9);
    for community in 0..links.community_count() as u32 {
        let members: Vec<u32> = links.members_of(community).iter().collect();
        assert!(members.iter().all(|member| scope(*member) == scope(members[0])));
        assert!(links.spans_of(community).all(|span| members.contains(&span.record)));
    }
    assert_eq!(links.entities_of_key("ana").count(), 3);
}

#[test]
fn another_scope_changes_no_link() {
    let alone = segment(records(&Scope::global(), ""));
    let mut more = records(&Scope::global(), "");
    more.extend(records(&Scope::global().with("user", "ana"), "a"));
    let beside = segment(more);
    let (alone, beside) = (alone.links(), beside.links());
    for record in 0..TEXTS.len() as u32 {
        assert!(alone.neighbours_of(record).eq(beside.neighbours_of(record)), "{record}");
        assert_eq!(alone.community_of(record), beside.community_of(record));
    }
}

#[test]
fn what_is_out_of_use_is_not_linked() {
    let mut all = records(&Scope::global(), "");
    all[1].status = crate::memory::Status::Archived;
    all[2].superseded_by = Some("3".into());
    let segment = segment(all);
    let links = segment.links();
    for gone in [1, 2] {
        assert_eq!((links.neighbours_of(gone).count(), links.community_of(gone)), (0, None));
        assert!((0..12).all(|record| links.neighbours_of(record).all(|(other, _)| other != gone)));
    }
}

#[test]
fn the_same_records_give_the_same_bytes_however_the_work_is_cut() {
    let all = || records(&Scope::global(), "a").into_iter().chain(records(&Scope::global().with("user", "ana"), "b"));
    let whole = build(all().collect(), 1000);
    for slice in [1, 2, 7, 1000] {
        assert!(build(all().collect(), slice) == whole, "slices of {slice}");
    }
}

#[test]
fn a_store_without_links_has_none() {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
    builder.set_without_links();
    records(&Scope::global(), "").into_iter().for_each(|record| builder.add(record).unwrap());
    let segment = builder.finish_segment().unwrap();
    assert!(segment.links().is_empty());
    assert_eq!(segment.links().neighbours_of(0).count(), 0);
}
