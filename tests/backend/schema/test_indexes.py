from convex_evals.backend.schema import (
    Index,
    IndexDiff,
    IndexSpec,
    NamedIndex,
    SearchIndexSpec,
    VectorIndexSpec,
    diff_indexes,
)

BY_AUTHOR = IndexSpec("by_author", ("author", "_creationTime"))
BY_AUTHOR_AND_BODY = IndexSpec("by_author", ("author", "body", "_creationTime"))
STAGED = IndexSpec("by_author", ("author", "_creationTime"), staged=True)
FIND = SearchIndexSpec("find", "body", ("author",))
NEAR = VectorIndexSpec("near", "emb", 4)


def named(*indexes: Index) -> list[NamedIndex]:
    return [NamedIndex("messages", index) for index in indexes]


def test_new_indexes_are_added_in_the_order_of_their_names() -> None:
    assert diff_indexes([], named(NEAR, FIND, BY_AUTHOR)).to_json() == {
        "added_indexes": [
            {
                "name": "messages.by_author",
                "type": "database",
                "fields": ["author", "_creationTime"],
                "staged": False,
            },
            {
                "name": "messages.find",
                "type": "search",
                "searchField": "body",
                "filterFields": ["author"],
                "staged": False,
            },
            {
                "name": "messages.near",
                "type": "vector",
                "vectorField": "emb",
                "dimensions": 4,
                "filterFields": [],
                "staged": False,
            },
        ],
        "removed_indexes": [],
        "enabled_indexes": [],
        "disabled_indexes": [],
    }


def test_nothing_changes_between_equal_sets() -> None:
    assert not diff_indexes(named(BY_AUTHOR, FIND), named(FIND, BY_AUTHOR))


def test_missing_indexes_are_removed() -> None:
    assert diff_indexes(named(BY_AUTHOR, FIND), []) == IndexDiff(removed=named(BY_AUTHOR, FIND))


def test_a_changed_index_is_removed_and_added() -> None:
    expected = IndexDiff(added=named(BY_AUTHOR_AND_BODY), removed=named(BY_AUTHOR))
    assert diff_indexes(named(BY_AUTHOR), named(BY_AUTHOR_AND_BODY)) == expected


def test_an_index_of_another_kind_under_the_same_name_is_a_change() -> None:
    search = SearchIndexSpec("by_author", "author")
    assert diff_indexes(named(BY_AUTHOR), named(search)) == IndexDiff(added=named(search), removed=named(BY_AUTHOR))


def test_staging_alone_enables_or_disables() -> None:
    assert diff_indexes(named(STAGED), named(BY_AUTHOR)) == IndexDiff(enabled=named(BY_AUTHOR))
    assert diff_indexes(named(BY_AUTHOR), named(STAGED)) == IndexDiff(disabled=named(STAGED))


def test_equal_names_in_different_tables_are_different_indexes() -> None:
    other = NamedIndex("posts", BY_AUTHOR)
    expected = IndexDiff(added=[other], removed=named(BY_AUTHOR))
    assert diff_indexes(named(BY_AUTHOR), [other]) == expected
