"""Pasted text: decodes it, removes prompts, quote marks, fences and colours, and splits it into outputs of one kind.

Line numbers remain those of the file: in the text of a part, lines of other parts are empty.
"""

import html
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_COLOURS = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-B0-2]|[=>])")
_INVISIBLE = {ord(c): None for c in "\u200b\u200c\u200d\u2060\ufeff\u00ad"} | {0xA0: " ", 0x2007: " ", 0x202F: " "}
_QUOTE = re.compile(r"^\s{0,3}(?:>[ ]?)+")
_FENCE = re.compile(
    r"^\s*(```+|~~~+)[\w+-]*\s*$|^\s*\[/?(code|quote|spoiler)[^\]]*\]\s*$|^\s*</?(pre|code|details)>\s*$",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#39|#x27);")
_CURLY = {0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"'}
_NUMBERED = re.compile(r"\s*(\d{1,5})[:.|]?(?:[ \t](.*)|)$")
_SETTING = re.compile(r"(?:uci\s+(?:-\w\s+)*)?(?:set|add_list)\s+\w[\w-]*\.\S+=.*")
"""A command that sets an option; people paste such commands instead of `uci show`."""
_CHANGE = re.compile(r"(?:sudo\s+)?tc\s+(?:-\S+\s+)*(?:qdisc|class|filter)\s+(?:add|replace|change|del|delete)\b.*")
_TITLE = re.compile(r"^==> (\S+) <==$")
_FORMS = (
    r"(?:ssh\s+(?:-\S+\s+)*\S+\s+['\"]?)?(?:sudo\s+)?(?:/(?:usr/)?s?bin/)?(?:"
    r"iw\s+(?:dev(?:\s+\S+\s+(?:station\s+(?:dump|get\s+\S+)|get\s+power_save|info|link|scan)|\s*)|phy(?:\s+\S+\s+info|\s+\S+)?|list)"
    r"|iw\s+\S+\s+(?:station\s+dump|get\s+power_save|info|link)"
    r"|tc\s+(?:-\S+\s+)*(?:qdisc|class|filter|q|c)\b[\w\s.-]*|uci\s+(?:-\w\s+)*(?:show|export)\b.*"
    r"|ubus\s+(?:-\S\s+)*call\s+\S+.*|iwinfo(?:\s+\S+\s+(?:info|assoclist|scan|freqlist|txpowerlist))?"
    r"|ip\s+(?:-\S+\s+)*(?:a|addr|address|link|l|r|ro|route)\b[\w\s.-]*|uname(?:\s+-\w+)?|ethtool\s+(?:-\w\s+)?[\w.-]+"
    r"|sysctl\s+\S+.*|cat\s+/\S+.*|wpa_cli\b.*|hostapd_cli\b.*|iwconfig(?:\s+\S+)?|ifconfig(?:\s+\S+)?)"
    r"(?:\s*(?:\||2?>|&&|;|['\"]).*)?"
)
_BARE = re.compile(rf"(?P<d>{_FORMS})\s*")
"""A command without a prompt: as a title above its output."""
_PROMPT = re.compile(
    r"\s*(?:\([^()\s]*\)\s*)?(?:"
    # root@OpenWrt:~# iw dev, [root@host ~]$ iw dev, user@host /etc % iw dev; the command may be missing.
    r"\[?[\w.-]+@[\w.-]+(?::\S*|\s+[~/][^\s\]]*|\s+[\w.-]+\]|\s*\S*\])?\s*\]?\s*[#$%>](?:\s*(?P<a>[^\s#$%>].*)|\s*)"
    # ~ # iw dev, /etc/config # cat sqm
    r"|[~/][\w./-]*\s*[#$]\s+(?P<b>\S.*)"
    r"|Every\s+[\d.]+s:\s+(?P<e>\S.*?)(?:\s{2,}.*)?"
    # catbert:~# tc -s qdisc, bash-5.1$ iw dev: any short text before a command that is known.
    rf"|(?:[^\s#$%>][^#$%>]{{0,60}})?[#$%>\u276f\u279c]\s*(?:~\s+)?(?P<c>{_FORMS})\s*"
    r")"
)


@dataclass
class Part:
    """Consecutive lines of one output."""

    kind: str | None
    """Kind of the first line; `None` if unknown."""
    command: str
    """The command that printed it, if the text has its prompt."""
    lines: dict[int, str] = field(default_factory=dict)
    """Lines by number, from 1."""
    own: bool = False
    """True if the line before it is its command or its file's name."""
    at: int = 0
    """Line number of the prompt with the command; 0 without a prompt."""

    @property
    def first(self) -> int:
        """Number of its first line."""
        return min(self.lines, default=self.at)

    def text(self) -> str:
        """The part without its common indentation, at the line numbers of the file."""
        own = textwrap.dedent("\n".join(line.expandtabs(8) for line in self.lines.values())).split("\n")
        keep = dict(zip(self.lines, own, strict=True))
        return "\n".join(keep.get(number, "") for number in range(1, max(self.lines) + 1))


def decoded(data: bytes) -> str:
    """Text of a file: UTF-8, UTF-16 with a byte-order mark, else Windows-1252."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def is_binary(data: bytes) -> bool:
    """Reports whether the bytes are binary: they have NUL or many control characters."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and len(data) % 2 == 0 and b"\x00\x00" not in data[:64]:
        return False
    start = data[:4096]
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 or byte == 127 for byte in start)
    return b"\x00" in data or control * 20 > len(start)


def clean(text: str) -> list[str]:
    """Lines without colours, quote marks and invisible characters."""
    text = _COLOURS.sub("", text).translate(_INVISIBLE).replace("\r\n", "\n").replace("\r", "\n")
    text = _ENTITY.sub(lambda at: html.unescape(at[0]), text).translate(_CURLY).translate(_INVISIBLE)
    lines = [_QUOTE.sub("", line).rstrip() if _QUOTE.match(line) else line.rstrip() for line in text.split("\n")]
    return _without_numbers(lines)


_FEWEST_NUMBERS = 3


def _without_numbers(lines: list[str]) -> list[str]:
    """Lines without line numbers, if all of them have consecutive ones."""
    at = [_NUMBERED.match(line) for line in lines if line]
    found = [int(one[1]) for one in at if one]
    if len(found) < _FEWEST_NUMBERS or len(found) < len(at) or found != [*range(found[0], found[0] + len(found))]:
        return lines
    numbered = (_NUMBERED.match(line) for line in lines)
    return [(one[2] or "").rstrip() if one else "" for one in numbered]


def _command(line: str) -> tuple[str | None, bool]:
    """Returns the command of a line (empty for a bare prompt, `None` for other lines) and True if it has a prompt."""
    title = line.strip().strip("*`:=#- ")
    prompt = _PROMPT.fullmatch(line)
    if at := prompt or _BARE.fullmatch(title):
        return next((word for word in at.groupdict().values() if word), "").strip(), bool(prompt)
    return None, False


def is_output(command: str) -> bool:
    """Reports whether the output of a command is read."""
    return bool(_BARE.fullmatch(command))


def parts(lines: list[str], kind_of: Callable[[str], str | None]) -> Iterator[Part]:
    """The outputs in a text; `kind_of` names the kind that a line starts, or None.

    A command with a setting, such as `uci set`, is a line of its part. A command that printed nothing is a part without
    lines.
    """
    part = Part(None, "")
    for number, given in enumerate(lines, 1):
        command, has_prompt = _command(given)
        line = given
        if command is not None and (_SETTING.fullmatch(command) or _CHANGE.fullmatch(command)):
            line, command = command, None
        title = _TITLE.match(line.strip())
        if command is not None or title or _FENCE.match(line):
            if part.lines or (part.at and (command is not None or title)):
                yield part
            # A fence does not end the output of a command: the output may be inside the next fence.
            named = command if command is not None else f"cat {title[1]}" if title else part.command
            kept = 0 if part.lines or command is not None or title else part.at
            own = bool(command or title)
            part = Part(None, named or "", own=own, at=number if has_prompt and command else kept)
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
    if part.lines or part.at:
        yield part
