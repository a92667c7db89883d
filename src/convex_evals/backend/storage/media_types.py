"""Content types of files."""

import re

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE = rf'(?:{_TOKEN}|"(?:[^"\\\x00-\x1f\x7f-\U0010ffff]|\\[\x20-\x7e])*")'
_PARAMETER = re.compile(rf"(\s*;\s*)({_TOKEN})=({_VALUE})")
_MEDIA_TYPE = re.compile(rf"({_TOKEN}/{_TOKEN})((?:\s*;\s*{_TOKEN}={_VALUE})*)\s*;?\s*")


def normalize_media_type(text: str) -> str | None:
    """What does not depend on case in lower case; None unless the text is a media type."""
    found = _MEDIA_TYPE.fullmatch(text.strip())
    if found is None:
        return None
    parameters = [_normalize_parameter(parameter) for parameter in _PARAMETER.finditer(found[2])]
    return found[1].lower() + "".join(parameters)


def _normalize_parameter(parameter: re.Match[str]) -> str:
    separator, name, value = parameter[1], parameter[2].lower(), parameter[3]
    return f"{separator}{name}={value.lower() if name == 'charset' else value}"
