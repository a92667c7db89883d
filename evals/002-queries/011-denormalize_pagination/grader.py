"""Songs by the genre of their artist, page by page."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same


def create_artist(project: Deployment, genre: str, name: str = "Artist") -> str:
    return str(project.mutation("index:createArtist", name=name, genre=genre))


def add_song(project: Deployment, artist: str, title: str, year: float) -> str:
    return str(project.mutation("index:addSong", artistId=artist, title=title, year=year))


def fill(project: Deployment) -> dict[str, str]:
    """Artists a, b (jazz) and c (rock) with four songs each, called a0, a1, a2, a3; artists by their names."""
    artists = {name: create_artist(project, "rock" if name == "c" else "jazz", name) for name in "abc"}
    for number, year in enumerate((1990, 1970, 2000, 1980)):
        for name, artist in artists.items():
            add_song(project, artist, f"{name}{number}", year)
    return artists


def ask(project: Deployment, genre: str, num_items: int, cursor: str | None = None, **others: object) -> Any:
    options = {"numItems": num_items, "cursor": cursor, **others}
    return project.query("index:listSongs", genre=genre, paginationOpts=options)


def titles(project: Deployment, genre: str) -> list[str]:
    return [song["title"] for song in ask(project, genre, 100)["page"]]


def test_the_tables_have_the_described_fields(project: Deployment, answer: Deployment) -> None:
    for table, fields in {"artists": ("name", "genre"), "songs": ("artistId", "title", "year")}.items():
        received, described = project.schema().table(table).fields, answer.schema().table(table).fields
        assert {name: received.get(name) for name in fields} == {name: described[name] for name in fields}


def test_new_artists_and_songs_hold_what_is_given(project: Deployment) -> None:
    artist = create_artist(project, "jazz", "Ella")
    song = add_song(project, artist, "Misty", 1960.5)
    documents: list[dict[str, Any]] = [*project.documents("artists"), *project.documents("songs")]
    assert [document["_id"] for document in documents] == [artist, song]
    given: list[dict[str, Any]] = [
        {"name": "Ella", "genre": "jazz"},
        {"artistId": artist, "title": "Misty", "year": 1960.5},
    ]
    assert [
        {name: document.get(name) for name in each} for document, each in zip(documents, given, strict=True)
    ] == given
    listed = ask(project, "jazz", 5)["page"]
    assert listed == [{"songId": song, "artistId": artist, "title": "Misty", "year": 1960.5}]


def test_the_pages_are_full_and_in_the_order_of_years(project: Deployment) -> None:
    fill(project)
    pages = project.pages("index:listSongs", genre="jazz", num_items=3)
    listed = [song["title"] for page in pages for song in page.items]
    assert_same(listed, ["b2", "a2", "b0", "a0", "b3", "a3", "b1", "a1"])
    assert [len(page.items) for page in pages] == [3, 3, 2]
    assert_same(titles(project, "rock"), ["c2", "c0", "c3", "c1"])


def test_a_genre_without_songs_has_one_empty_page(project: Deployment) -> None:
    fill(project)
    create_artist(project, "folk")
    for genre in ("folk", "Jazz", ""):
        pages = project.pages("index:listSongs", genre=genre, num_items=10)
        assert [(page.items, page.is_done) for page in pages] == [([], True)]


def test_a_changed_genre_counts_for_all_songs_of_the_artist_and_for_new_ones(project: Deployment) -> None:
    artists = fill(project)
    assert project.mutation("index:setGenre", artistId=artists["a"], genre="rock") is None
    assert_same(titles(project, "jazz"), ["b2", "b0", "b3", "b1"])
    # Of equal years, the song that was added last comes first, whenever its artist changed genre.
    assert_same(titles(project, "rock"), ["c2", "a2", "c0", "a0", "c3", "a3", "c1", "a1"])
    add_song(project, artists["a"], "a4", 1985)
    assert_same(titles(project, "rock"), ["c2", "a2", "c0", "a0", "a4", "c3", "a3", "c1", "a1"])
    assert [artist["genre"] for artist in project.documents("artists")] == ["rock", "jazz", "rock"]


def test_artists_who_are_gone_get_no_songs_and_no_genre(project: Deployment) -> None:
    gone = create_artist(project, "jazz")
    project.delete("artists", gone)
    with project.fails():
        add_song(project, gone, "Lost", 2000)
    with project.fails():
        project.mutation("index:setGenre", artistId=gone, genre="rock")
    assert project.documents("songs") == project.documents("artists") == []


def test_the_options_of_reactive_clients_are_understood(project: Deployment) -> None:
    artists = fill(project)
    first = ask(project, "jazz", 4, id=1, endCursor=None)
    add_song(project, artists["a"], "new", 1995)
    # A page that was loaded before keeps its extent, and shows what was added within.
    again = ask(project, "jazz", 2, id=2, endCursor=first["continueCursor"])
    assert [song["title"] for song in again["page"]] == ["b2", "a2", "new", "b0", "a0"]


def test_only_what_is_needed_is_read(project: Deployment) -> None:
    artists = fill(project)
    # Between the first and the second song of the page that is asked for.
    for number in range(30):
        add_song(project, artists["c"], f"more {number}", 1985)
    after = ask(project, "jazz", 3)["continueCursor"]
    with project.trace() as listed:
        ask(project, "jazz", 3, after)
    with project.trace() as changed:
        project.mutation("index:setGenre", artistId=artists["b"], genre="rock")
    # An artist, or a second document, may be looked at for every song; who changes a document reads it once more.
    assert listed.documents_read <= 2 * 3, f"listSongs read {listed.documents_read} documents for a page of 3 songs"
    assert changed.documents_read <= 2 + 3 * 4, f"setGenre read {changed.documents_read} documents for 4 songs"


def test_rejects_arguments_of_other_types(project: Deployment) -> None:
    artist = create_artist(project, "jazz")
    song = add_song(project, artist, "Misty", 1960)
    options: dict[str, object] = {"numItems": 3, "cursor": None}
    given: dict[str, dict[str, object]] = {
        "index:createArtist": {"name": "Ella", "genre": "jazz"},
        "index:addSong": {"artistId": artist, "title": "Misty", "year": 1960},
        "index:setGenre": {"artistId": artist, "genre": "rock"},
        "index:listSongs": {"genre": "jazz", "paginationOpts": options},
    }
    wrong = {"name": 5, "genre": 5, "artistId": song, "title": 5, "year": "1960", "paginationOpts": {"numItems": 3}}
    for path, arguments in given.items():
        call = project.query if path == "index:listSongs" else project.mutation
        for name in arguments:
            with project.fails("ArgumentValidationError"):
                call(path, {**arguments, name: wrong[name]})
            with project.fails("ArgumentValidationError"):
                call(path, {each: arguments[each] for each in arguments if each != name})
