"""The `.env` file: where it is looked for and how it is read."""

from pathlib import Path

from convex_evals.core.errors import SettingsError

NAME = ".env"


def find_env_file(cwd: Path, home: Path) -> Path | None:
    """The nearest `.env` from `cwd` upward, inside the git repository or the home folder that holds `cwd`.

    Outside both only `cwd` itself counts: a `.env` in a shared folder such as /tmp may be somebody else's.
    """
    folders = [cwd, *cwd.parents]
    boundary = next((folder for folder in folders if folder == home or (folder / ".git").exists()), cwd)
    for folder in folders[: folders.index(boundary) + 1]:
        if (folder / NAME).is_file():
            return folder / NAME
    return None


def read_env_file(path: Path) -> dict[str, str]:
    """Its variables. Values are taken literally: a dollar sign in a key is a dollar sign."""
    from dotenv.parser import parse_stream

    values: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for binding in parse_stream(stream):
                if binding.error:
                    # The line itself may hold a key, so only its number is said.
                    raise SettingsError(
                        f"{path}, line {_line_number(binding.original)}: write NAME=value on this line."
                    )
                if binding.key is not None and binding.value is not None:
                    values[binding.key] = binding.value
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} must be UTF-8 text; save it in that encoding.") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    return values


def _line_number(original: object) -> int:
    line = getattr(original, "line", 1)
    blank = len(text := getattr(original, "string", "")) - len(text.lstrip())
    return int(line) + text[:blank].count("\n")
