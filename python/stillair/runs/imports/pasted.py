"""Text as people paste it: decoded, without prompts, quote marks, fences and colours, cut into outputs of one kind.

Line numbers stay those of the file: a reader gets its part with an empty line for each line that is not its own.
"""

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_COLOURS = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-B0-2]|[=>])")
_INVISIBLE = {ord(c): None for c in "\u200b\u200c\u200d\u2060\ufeff\u00ad"} | {0xA0: " ", 0x2007: " ", 0x202F: " "}
_QUOTE = re.compile(r"^\s{0,3}(?:>[ ]?)+")
_FENCE = re.compile(
    r"^\s*(```+|~~~+)[\w+-]*\s*$|^\s*\[/?(code|quote|spoiler)[^\]]*\]\s*$|^\s*</?(pre|code|details)>\s*$"
)
_TITLE = re.compile(r"^==> (\S+) <==$")
_FORMS = (
    r"(?:sudo\s+)?(?:/(?:usr/)?s?bin/)?(?:"
    r"iw\s+(?:dev(?:\s+\S+\s+(?:station\s+(?:dump|get\s+\S+)|info|link|scan)|\s*)|phy(?:\s+\S+\s+info|\s+\S+)?|list)"
    r"|iw\s+\S+\s+(?:station\s+dump|info|link)"
    r"|tc\s+(?:-\S+\s+)*(?:qdisc|class|filter|q|c)\b[\w\s.-]*|uci\s+(?:-\w\s+)*(?:show|export)\b.*"
    r"|ubus\s+(?:-\S\s+)*call\s+\S+.*|iwinfo(?:\s+\S+\s+(?:info|assoclist|scan|freqlist|txpowerlist))?"
    r"|ip\s+(?:-\S+\s+)*(?:a|addr|address|link|l)\b[\w\s.-]*|uname(?:\s+-\w+)?|ethtool\s+(?:-\w\s+)?[\w.-]+"
    r"|sysctl\s+\S+.*|cat\s+/\S+.*|wpa_cli\b.*|hostapd_cli\b.*|iwconfig(?:\s+\S+)?|ifconfig(?:\s+\S+)?)"
    r"(?:\s*(?:\||2?>|&&|;).*)?"
)
_BARE = re.compile(rf"(?P<d>{_FORMS})\s*")
"""A command without a prompt: as a title above its output."""
_PROMPT = re.compile(
    r"\s*(?:\([^()\s]*\)\s*)?(?:"
    # root@OpenWrt:~# iw dev, [root@host ~]$ iw dev, user@host /etc % iw dev; the command may be missing.
    r"\[?[\w.-]+@[\w.-]+(?::\S*|\s+[~/][^\s\]]*|\s+[\w.-]+\]|\s*\S*\])?\s*\]?\s*[#$%>](?:\s*(?P<a>[^\s#$%>].*)|\s*)"
    # ~ # iw dev, /etc/config # cat sqm
    r"|[~/][\w./-]*\s*[#$]\s+(?P<b>\S.*)"
    rf"|[#$%>\u276f\u279c]\s*(?:~\s+)?(?P<c>{_FORMS})\s*"
    r")"
)


@dataclass
class Part:
    """Consecutive lines of one output."""

    kind: str | None
    """The kind that its first line has; `None` if unknown."""
    command: str
    """The command that printed it, if the text has its prompt."""
    lines: dict[int, str] = field(default_factory=dict)
    """By number, from 1."""

    @property
    def first(self) -> int:
        """Number of its first line."""
        return min(self.lines)

    def text(self) -> str:
        """The part without its common indentation, at the line numbers of the file."""
        own = textwrap.dedent("\n".join(line.expandtabs(8) for line in self.lines.values())).split("\n")
        keep = dict(zip(self.lines, own, strict=True))
        return "\n".join(keep.get(number, "") for number in range(1, max(self.lines) + 1))


def decoded(data: bytes) -> str:
    """Text of a file: UTF-8, UTF-16 with a byte-order mark, else Latin-1 for the bytes that are neither."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def is_binary(data: bytes) -> bool:
    """Reports whether the bytes are no text: NUL, or many control characters."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and len(data) % 2 == 0 and b"\x00\x00" not in data[:64]:
        return False
    start = data[:4096]
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 or byte == 127 for byte in start)
    return b"\x00" in data or control * 20 > len(start)


def clean(text: str) -> list[str]:
    """Lines without colours, quote marks and invisible characters."""
    text = _COLOURS.sub("", text).translate(_INVISIBLE).replace("\r\n", "\n").replace("\r", "\n")
    return [_QUOTE.sub("", line).rstrip() if _QUOTE.match(line) else line.rstrip() for line in text.split("\n")]


def _command(line: str) -> str | None:
    """The command of a line with a prompt, or of a line that is a command; empty for a prompt alone."""
    title = line.strip().strip("*`:=#- ")
    if at := _PROMPT.fullmatch(line) or _BARE.fullmatch(title):
        return next((word for word in at.groupdict().values() if word), "").strip()
    return None


def parts(lines: list[str], kind_of: Callable[[str], str | None]) -> Iterator[Part]:
    """The outputs in a text; `kind_of` names the kind that a line starts, or None."""
    part = Part(None, "")
    for number, line in enumerate(lines, 1):
        command = _command(line)
        title = _TITLE.match(line.strip())
        if command is not None or title or _FENCE.match(line):
            if part.lines:
                yield part
            # A fence does not end what a command printed; its output may stand in the next one.
            named = command if command is not None else f"cat {title[1]}" if title else part.command
            part = Part(None, named or "")
            continue
        if not line.strip():
            continue
        kind = kind_of(line)
        if kind is not None and kind != part.kind:
            if part.lines and (part.kind is not None or not part.command):
                yield part
                part = Part(kind, part.command)
            part.kind = kind
        part.lines[number] = line
    if part.lines:
        yield part
