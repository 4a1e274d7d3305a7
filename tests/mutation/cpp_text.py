"""C++ source text in which only the code is left."""
import re

# Alternatives, in the order in which they are tried at each position of the text.
_HIDDEN = re.compile(
    r"""
      //[^\n]*                                     # comment
    | /\*.*?\*/
    | (?:u8|[uUL])?R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*"                          # string
    | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'         # character, not the ' of 1'000
    | ^[ \t]*\#(?:\\\n|[^\n])*                     # preprocessor
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE)

# Statements without effect on the program's decisions.
_STATEMENT = re.compile(r"\b(?:static_assert|V?LOG|spdlog::\w+)\s*\(")
_TEMPLATE_LINE = re.compile(r"^[ \t]*template\s*<[^\n]*", re.MULTILINE)


def blank(text, begin, end):
    """The text with spaces from `begin` to `end`; line breaks and all offsets are kept."""
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def find_outside(code, wanted, begin, end):
    """The offset of the first `wanted` that no bracket within begin..end encloses, or -1."""
    depth = 0
    for at in range(begin, end):
        if depth == 0 and code[at] in wanted:
            return at
        depth += (code[at] in "([{") - (code[at] in ")]}")
    return -1


def closing(code, opening):
    """The offset of the bracket that closes the one at `opening`, or -1."""
    return find_outside(code, ")]}", opening + 1, len(code))


def code_of(text):
    """The text of the same length with all but code blank: no comment, string, directive,
    template header, static_assert or logging."""
    code = text
    for match in _HIDDEN.finditer(text):
        code = blank(code, match.start(), match.end())
    for match in _TEMPLATE_LINE.finditer(code):
        code = blank(code, match.start(), match.end())
    for match in _STATEMENT.finditer(code):
        code = blank(code, match.start(), closing(code, match.end() - 1) + 1)
    return code
