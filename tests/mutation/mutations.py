"""Mutations of a C++ file: every small change of its code that a test should notice."""
import dataclasses
import re

import cpp_text

# Operator -> the operator that replaces it.
_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "+": "-", "-": "+",
}
# Spaces on both sides distinguish an operator from template brackets, a reference and a sign.
_OPERATOR = re.compile(r"(?<=\s)(?:<=|>=|==|!=|&&|\|\||[<>+-])(?=\s)")
_BOOLEAN = re.compile(r"\b(?:true|false)\b")
_INTEGER = re.compile(r"(?<![\w.'])\d[\d']*(?![\w.'])")
_IF = re.compile(r"\bif\s*(\()")
_DECLARATION = re.compile(r"\s*(?:const\s+)?[\w:]+(?:<.*>)?[\s*&]+\w+\s*=(?!=)", re.DOTALL)
# A function or method, recognized by its result type and the parenthesis of its parameters.
_FUNCTION = re.compile(r"^(?:  )?([\w:][\w:<>,*& ]*?[\s*&])(?!if\b)[\w:~]+(\()", re.MULTILINE)
_BODY = re.compile(r"\s*(?:const\s*)?(?:override\s*)?\{")
_RETURN = re.compile(r"\breturn\s+([^;]+);")
# A call that is a whole statement, such as `job.set_id(1);`, also after `if (...)`. A macro that
# declares a variable does not count.
_CALL = re.compile(r"(?<=[;{})])\s*(?!(?:return|throw|delete|new|if|for|while|switch)\b)"
                   r"(?!\w+_ASSIGN_OR_RETURN\b)([A-Za-z_*(][\w:.>*()\[\]-]*?)(\()")
_CHAINED = re.compile(r"\s*(?:\.|->)\w+\(")


@dataclasses.dataclass(frozen=True)
class Mutation:
    """The text from `offset` on, `before`, is replaced by `after`."""

    path: str
    line: int
    offset: int
    kind: str
    before: str
    after: str
    # The line's text, and the column in it, identify the mutation after lines were added above.
    source: str
    column: int

    def apply(self, text):
        """The mutated text of the file."""
        end = self.offset + len(self.before)
        if text[self.offset:end] != self.before:
            raise ValueError(f"{self.path}:{self.line} is no longer {self.before!r}")
        return text[:self.offset] + self.after + text[end:]

    def key(self):
        """The mutation without its offset: file, line's text, place in it and change."""
        return (self.path, self.source, self.column, self.before, self.after)

    def __str__(self):
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}: {self.kind}: `{_short(before)}` -> `{_short(after)}`"


def _short(text):
    return text if len(text) <= 60 else text[:57] + "..."


def _operators(code, _):
    for match in _OPERATOR.finditer(code):
        yield "operator", match.span(), _OPERATORS[match.group()]


def _booleans(code, _):
    for match in _BOOLEAN.finditer(code):
        yield "boolean", match.span(), "false" if match.group() == "true" else "true"


def _is_template_argument(code, at):
    """True for the 3 of `std::array<int, 3>`."""
    return re.search(r"\w<[^<>;(){}]*$", code[max(0, at - 80):at]) is not None


def _integers(code, _):
    for match in _INTEGER.finditer(code):
        if not _is_template_argument(code, match.start()):
            yield "integer", match.span(), str(int(match.group().replace("'", "")) + 1)


def _conditions(code, text):
    for match in _IF.finditer(code):
        begin, end = match.start(1) + 1, cpp_text.closing(code, match.start(1))
        # A condition may begin with a declaration: `if (auto x = f(); x > 0)`.
        begin = cpp_text.find_outside(code, ";", begin, end) + 1 or begin
        if not _DECLARATION.match(code[begin:end]):
            yield "condition", (begin, end), f"!({text[begin:end].strip()})"


def _functions(code):
    """Offset and result of each function that is defined in the file."""
    for match in _FUNCTION.finditer(code):
        if _BODY.match(code, cpp_text.closing(code, match.start(2)) + 1):
            yield match.start(), match.group(1).strip()


def _returns(code, text):
    """Returned values of functions whose result is a bool."""
    functions = list(_functions(code))
    for match in _RETURN.finditer(code):
        results = [result for offset, result in functions if offset < match.start()]
        if results[-1:] == ["bool"] and match.group(1) not in ("true", "false"):
            begin, end = match.span(1)
            yield "return", (begin, end), f"!({text[begin:end]})"


def _calls(code, _):
    for match in _CALL.finditer(code):
        end = cpp_text.closing(code, match.start(2)) + 1
        while (more := _CHAINED.match(code, end)) is not None:
            end = cpp_text.closing(code, more.end() - 1) + 1
        if code[end:end + 1] == ";":
            yield "call", (match.start(1), end + 1), "{}"


_FINDERS = (_operators, _booleans, _integers, _conditions, _returns, _calls)


def _mutation(path, text, kind, span, after):
    begin, end = span
    start = text.rfind("\n", 0, begin) + 1
    source = text[start:].split("\n", 1)[0]
    indent = len(source) - len(source.lstrip())
    return Mutation(path, text.count("\n", 0, begin) + 1, begin, kind, text[begin:end], after,
                    source.strip(), begin - start - indent)


def find(path, text):
    """All mutations of the file in the order of its text."""
    code = cpp_text.code_of(text)
    found = [_mutation(path, text, kind, span, after)
             for finder in _FINDERS for kind, span, after in finder(code, text)]
    return sorted(found, key=lambda mutation: (mutation.offset, mutation.kind))
