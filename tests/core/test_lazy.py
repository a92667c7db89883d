import sys

import pytest

from convex_evals.core.lazy import load_on_demand

load = load_on_demand("xml", {"dom.minidom": ("parseString",)})


def test_a_name_loads_its_own_module_when_it_is_asked_for() -> None:
    sys.modules.pop("xml.dom.minidom", None)
    load_on_demand("xml", {"dom.minidom": ("parseString",)})
    assert "xml.dom.minidom" not in sys.modules
    assert load("parseString") is sys.modules["xml.dom.minidom"].parseString


def test_an_unknown_name_is_refused_as_python_refuses_it() -> None:
    with pytest.raises(AttributeError, match="module 'xml' has no attribute 'unknown'"):
        load("unknown")
