"""Compares what readers said about the cases of `labelling-packet.py` with one another and with our labels.

    .venv/bin/python scripts/labelling-agreement.py FOLDER [--labels LABELS] [--settled FILE]

FOLDER has answers-N-a.jsonl and answers-N-b.jsonl. Prints agreement and Cohen's kappa, and every case on which not all
agree. Agreement is also weighted by how frequent our classes are in the whole set, because rare ones were sampled more
often. With --settled, a file of lines {"id", "class", "why"} for those cases, all labels and the settled one are
written into LABELS: `class` is what counts from then on, `labels` what each of them said, `settled` why.
"""

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
packet = importlib.import_module("labelling-packet")

READERS = {"a": "reader a", "b": "reader b"}
AUTHOR = "author"
Labels = dict[str, dict[str, str]]
"""By blind id and by who said it."""


def read_lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def collected(cases: Mapping[str, Mapping[str, Any]], folder: Path) -> Labels:
    """Of the cases that at least one reader has answered; what is not in the sample is an error."""
    found: Labels = {}
    for letter, reader in READERS.items():
        for path in sorted(folder.glob(f"answers-*-{letter}.jsonl")):
            for line in read_lines(path):
                case = cases[line["id"]]
                found.setdefault(line["id"], {AUTHOR: author_label(case)})[reader] = line["class"]
    return found


def author_label(case: Mapping[str, Any]) -> str:
    """Before anything was settled."""
    return str(case.get("labels", {}).get(AUTHOR, case["class"]))


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's: agreement beyond what chance would give."""
    observed = sum(one == other for one, other in pairs) / len(pairs)
    ones, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    expected = sum(ones[name] * others[name] for name in ones) / len(pairs) ** 2
    return (observed - expected) / (1 - expected) if expected < 1 else 1.0


def show(labels: Labels, shares: Mapping[str, float]) -> None:
    for one, other in ((AUTHOR, READERS["a"]), (AUTHOR, READERS["b"]), (READERS["a"], READERS["b"])):
        both = [each for each in labels.values() if one in each and other in each]
        if not both:
            continue
        agree = sum(each[one] == each[other] for each in both)
        weighted = weighted_agreement(both, one, other, shares)
        value = kappa([(each[one], each[other]) for each in both])
        print(f"{one} and {other}: {agree} of {len(both)} ({weighted:.1%} weighted), kappa {value:.2f}")


def weighted_agreement(both: Sequence[Mapping[str, str]], one: str, other: str, shares: Mapping[str, float]) -> float:
    """As if classes were as frequent in the sample as in the whole set."""
    groups = {name: [each for each in both if each[AUTHOR] == name] for name in shares}
    known = {name: group for name, group in groups.items() if group}
    total = sum(shares[name] for name in known)
    agreeing = {name: sum(each[one] == each[other] for each in group) / len(group) for name, group in known.items()}
    return sum(shares[name] * agreeing[name] for name in known) / total


def settle(content: dict[str, Any], labels: Labels, settled: Mapping[str, Mapping[str, str]]) -> None:
    """A case on which all agree is settled; any other must be in `settled`."""
    for case in content["cases"]:
        id = packet.blind_id(case)
        said = labels.get(id)
        if said is None:
            continue
        case["labels"] = said
        if len(set(said.values())) == 1:
            continue
        if id not in settled:
            raise SystemExit(f"{id} {case['id']} is not settled: {said}")
        case |= {"class": settled[id]["class"], "settled": settled[id]["why"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--labels", type=Path, default=packet.LABELLED / "test.json")
    parser.add_argument("--settled", type=Path)
    asked = parser.parse_args()
    content = json.loads(asked.labels.read_bytes())
    cases = {packet.blind_id(case): case for case in content["cases"]}
    labels = collected(cases, asked.folder)
    classes = Counter(author_label(case) for case in content["cases"])
    show(labels, {name: count / len(cases) for name, count in classes.items()})
    for id, said in labels.items():
        if len(set(said.values())) > 1:
            print(id, cases[id]["id"], said)
    if asked.settled:
        settle(content, labels, {line["id"]: line for line in read_lines(asked.settled)})
        asked.labels.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
