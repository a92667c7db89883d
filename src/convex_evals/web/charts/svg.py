"""Elements of an SVG as safe markup: every text and every attribute is escaped."""

from collections.abc import Iterable

from markupsafe import Markup, escape


def element(name: str, *children: str, **attributes: object) -> Markup:
    """`class_` is the attribute `class`, `stroke_width` is `stroke-width`; None leaves an attribute out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(escape(child) for child in children)
    return Markup(f"<{name}{given}>{inside}</{name}>" if inside else f"<{name}{given}/>")


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, said: str, class_: str = "label", anchor: str | None = None) -> Markup:
    return element("text", said, x=x, y=y, class_=class_, text_anchor=anchor)


def upright(x: float, y: float, said: str, class_: str) -> Markup:
    """Text rotated to read upwards, centred at this place."""
    turned = f"rotate(-90 {_shown(x)} {_shown(y)})"
    return element("text", said, x=x, y=y, class_=class_, text_anchor="middle", transform=turned)


def path(points: Iterable[tuple[float, float]], class_: str) -> Markup:
    return element("polyline", points=" ".join(f"{_shown(x)},{_shown(y)}" for x, y in points), class_=class_)


def link(href: str | None, *children: str) -> Markup:
    return element("a", *children, href=href) if href else Markup("").join(children)


def picture(width: float, height: float, title: str, description: str, *children: str) -> Markup:
    """The whole: read aloud as an image with its title and description, or as a group when there are links in it."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *children,
        viewBox=f"0 0 {_shown(width)} {_shown(height)}",
        width=width,
        height=height,
        role="group" if any("<a " in child for child in children) else "img",
        class_="chart",
    )


def _shown(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
