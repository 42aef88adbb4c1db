"""Code without comments, as one line."""

import re

_TEXT_OR_COMMENT = re.compile(
    r'("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|//[^\n]*|/\*.*?\*/', re.S)


def one_line(text):
    """Returns code without comments, on one line."""
    text = _TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", text)
    return " ".join(text.split())
