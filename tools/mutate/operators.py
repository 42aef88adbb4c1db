"""The mutants of a C++ source: small faults, each of one place of its code.

    find_mutants("lion/roar.cc", text, ["-std=c++17", "-I..."])

Clang's parser says where conditions, operators, returned values, calls and
literals are, so comments, strings, includes, types and arguments of macros are
left alone. Only the bodies of functions are changed. Operators:

    condition   if, while, for and ?: with the opposite condition; && and ||
    boundary    < as <=, > as >=, and the other way; == as !=
    arithmetic  + as -, * as /, << as >>, & as |, ++ as --, and so on
    value       return of the opposite bool, of zero, nothing or another status
    call        a call without its effect: statements that are calls, removed
    constant    a number one larger, true as false
"""

import dataclasses
import re
import sys

from one_line import one_line

try:
    from clang import cindex
except ImportError:  # another Python than the system's is first
    sys.path.append("/usr/lib/python3/dist-packages")
    from clang import cindex

Kind = cindex.CursorKind
Type = cindex.TypeKind

_OTHER_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_OTHER_CONDITION = {"&&": "||", "||": "&&"}
_OTHER_ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<",
    "&": "|", "|": "&", "^": "&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
    "%=": "*=", "<<=": ">>=", ">>=": "<<=", "&=": "|=", "|=": "&=", "^=": "&="}
# Operators whose replacement binds more tightly, or less.
_OF_ANOTHER_RANK = {"&&", "||", "&", "|", "^"}
_FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
              Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE}
# These contain nothing that runs, or nothing that C++ defines.
_NOT_RUN = {Kind.CXX_UNARY_EXPR, Kind.CXX_TYPEID_EXPR, Kind.SIZE_OF_PACK_EXPR,
            Kind.ASM_STMT, Kind.MS_ASM_STMT, Kind.STATIC_ASSERT}
_LITERAL = re.compile(r"(?:\d[\d']*|0[xXbB][\da-fA-F']+)[uUlLzZ]*|[\d']*\.?[\d']+(?:[eE][-+]?\d+)?[fFlL]?"
                      r"|\d+\.|true|false")
# Texts for a person who looks for a fault, which are like comments.
_LOGS = re.compile(r"(?:std::)?(?:fprintf\(stderr|fputs\(.*stderr\)$|perror\()", re.S)
_ANOTHER_STATUS = "::absl::Status(static_cast<::absl::StatusCode>(2), \"a planted fault\")"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A fault of one place. `form` says how a switch is written for it."""
    file: str
    operator: str
    start: int  # in bytes
    end: int
    line: int
    last_line: int
    line_text: str
    old: str
    new: str
    form: str  # "value", "opposite", "removed" or "returned"
    constant: bool = False  # in a constexpr function
    ordinal: int = 1  # among those of the line that read alike

    @property
    def change(self):
        count = " (#%d)" % self.ordinal if self.ordinal > 1 else ""
        return "%s -> %s%s" % (self.old, self.new, count)

    @property
    def key(self):
        """Returns a key that identifies it, regardless of other lines."""
        return "\t".join([self.file, self.line_text, self.change])

    def __str__(self):
        return "%s:%d: %s: %s" % (self.file, self.line, self.operator, self.change)


class NotParsed(Exception):
    """Clang cannot read the source."""


def errors_of(unit):
    return [str(found) for found in unit.diagnostics if found.severity >= cindex.Diagnostic.Error]


class _Finder:
    def __init__(self, name, path, text, unit):
        self._name, self._path, self._unit = name, path, unit
        self._bytes = text.encode()
        self._lines = self._bytes.split(b"\n")
        self._macros = {self._span(cursor) for cursor in unit.cursor.get_children()
                        if cursor.kind == Kind.MACRO_INSTANTIATION and self._is_here(cursor)}
        self._found = {}

    def find(self):
        for cursor in self._unit.cursor.get_children():
            if self._is_here(cursor) and not cursor.kind.is_preprocessing():
                self._visit_declaration(cursor)
        return self._numbered()

    def _numbered(self):
        """Numbers the mutants that look alike on a line, from left to right."""
        counts, numbered = {}, []
        for mutant in sorted(self._found.values(), key=lambda m: (m.start, m.end, m.operator)):
            counts[mutant.key] = counts.get(mutant.key, 0) + 1
            numbered.append(dataclasses.replace(mutant, ordinal=counts[mutant.key]))
        return numbered

    def _is_here(self, cursor):
        file = cursor.location.file
        return file is not None and file.name == self._path

    @staticmethod
    def _span(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def _text(self, start, end):
        return self._bytes[start:end].decode()

    def _before(self, start):
        """Returns the code before a place, without comments, up to a line or two."""
        line_start = self._bytes.rfind(b"\n", 0, max(0, start - 200)) + 1
        return one_line(self._text(line_start, start))

    def _after(self, end):
        return one_line(self._text(end, min(len(self._bytes), end + 200)).split('"')[0])

    def _add(self, operator, span, new, form):
        start, end = span
        text = self._text(start, end)
        unusable = not text.strip() or 'R"' in text or re.search(r"\n\s*#", text)
        if unusable:
            return
        line = self._bytes.count(b"\n", 0, start) + 1
        mutant = Mutant(
            self._name, operator, start, end, line, line + text.count("\n"),
            one_line(self._lines[line - 1].decode()), one_line(text), new, form,
            self._is_constant)
        self._found.setdefault((start, end, new), mutant)

    # Declarations.

    def _visit_declaration(self, cursor):
        if cursor.kind in _FUNCTIONS:
            if cursor.is_definition() and self._is_here(cursor):
                self._visit_function(cursor)
        elif not cursor.kind.is_expression():
            for child in cursor.get_children():
                self._visit_declaration(child)

    def _visit_function(self, cursor):
        children = list(cursor.get_children())
        bodies = [child for child in children if child.kind in (Kind.COMPOUND_STMT, Kind.CXX_TRY_STMT)]
        if not bodies:
            return
        head = self._text(cursor.extent.start.offset, bodies[0].extent.start.offset)
        self._is_constant = bool(re.search(r"\b(?:constexpr|consteval)\b", head))
        # A template's type is named by the name's children, and any other type
        # by the cursor.
        self._result = cursor.result_type
        for child in children:
            if child.kind == Kind.PARM_DECL:
                continue
            if child.kind in (Kind.COMPOUND_STMT, Kind.CXX_TRY_STMT) or child.kind.is_expression():
                self._visit(child, cursor)

    # Statements and expressions.

    def _visit(self, cursor, parent):
        if cursor.kind in _NOT_RUN:
            return
        if cursor.kind == Kind.LAMBDA_EXPR:
            outer, self._result = self._result, None
            self._visit_children(cursor)
            self._result = outer
            return
        visit = {
            Kind.IF_STMT: self._visit_condition, Kind.WHILE_STMT: self._visit_condition,
            Kind.FOR_STMT: self._visit_condition, Kind.DO_STMT: self._visit_condition,
            Kind.CONDITIONAL_OPERATOR: self._visit_choice,
            Kind.BINARY_OPERATOR: self._visit_operator,
            Kind.COMPOUND_ASSIGNMENT_OPERATOR: self._visit_operator,
            Kind.UNARY_OPERATOR: self._visit_step,
            Kind.RETURN_STMT: self._visit_return,
            Kind.INTEGER_LITERAL: self._visit_number, Kind.FLOATING_LITERAL: self._visit_number,
            Kind.CXX_BOOL_LITERAL_EXPR: self._visit_bool,
        }.get(cursor.kind)
        if visit:
            visit(cursor)
        elif cursor.kind == Kind.CALL_EXPR:
            self._visit_call(cursor)
        if cursor.kind == Kind.COMPOUND_STMT or cursor.kind.is_statement():
            for child in cursor.get_children():
                self._visit_statement(child, cursor)
        self._visit_children(cursor)

    def _visit_children(self, cursor):
        for child in cursor.get_children():
            if child.kind in _FUNCTIONS or child.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL):
                continue
            self._visit(child, cursor)

    def _visit_condition(self, cursor):
        """Handles a statement, whichever child is the condition."""
        for child in cursor.get_children():
            if not child.kind.is_expression():
                continue
            start, end = self._span(child)
            before, after = self._before(start), self._after(end)
            if re.search(r"\bconstexpr \($", before):
                return
            if cursor.kind == Kind.FOR_STMT:
                is_condition = before.endswith(";") and after.startswith(";")
                # The body may be an expression, which comes after the head.
                is_condition = is_condition and "for (" in self._text(cursor.extent.start.offset, start)
            else:
                is_condition = (re.search(r"(?:\b(?:if|while) \(|;)$", before)
                                and after.startswith(")"))
            if is_condition:
                self._negate(child)
                return

    def _negate(self, condition):
        text = one_line(self._text(*self._span(condition)))
        if not re.fullmatch(r"true|false|\d+", text):
            self._add("condition", self._span(condition), "!(%s)" % text, "opposite")

    def _visit_choice(self, cursor):
        children = list(cursor.get_children())
        if len(children) == 3:
            self._negate(children[0])

    def _visit_operator(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        (start, left_end), (right_start, end) = map(self._span, children)
        symbol = one_line(self._text(left_end, right_start))
        left, right = self._text(start, left_end), self._text(right_start, end)
        both_point = all(child.type.get_canonical().kind == Type.POINTER for child in children)
        self._other_operator((start, end), left, symbol, right, both_point)

    def _other_operator(self, span, left, symbol, right, both_point=False):
        for operator, others in (("boundary", _OTHER_BOUNDARY), ("condition", _OTHER_CONDITION),
                                 ("arithmetic", _OTHER_ARITHMETIC)):
            if symbol not in others or (both_point and operator == "arithmetic"):
                continue
            left, right = one_line(left), one_line(right)
            if symbol in _OF_ANOTHER_RANK:
                left, right = ("(%s)" % text if " " in text else text for text in (left, right))
            new = "%s %s %s" % (left, others[symbol], right)
            # This is the opposite of a condition, and one of the two is enough.
            opposite = "!(%s)" % one_line(self._text(*span))
            if symbol in ("==", "!=") and (*span, opposite) in self._found:
                continue
            self._add(operator, span, new, "value")

    def _visit_step(self, cursor):
        start, end = self._span(cursor)
        text = self._text(start, end).strip()
        for step, other in (("++", "--"), ("--", "++")):
            if text.startswith(step):
                self._add("arithmetic", (start, end), other + one_line(text[2:]), "value")
            elif text.endswith(step):
                self._add("arithmetic", (start, end), one_line(text[:-2]) + other, "value")

    def _visit_call(self, cursor):
        """Handles an overloaded comparison, which is a call of `operator<`."""
        symbol = cursor.spelling.replace("operator", "", 1).strip()
        children = list(cursor.get_children())
        if not cursor.spelling.startswith("operator") or len(children) != 3:
            return
        if symbol not in _OTHER_BOUNDARY:
            return
        (start, left_end), (right_start, end) = self._span(children[0]), self._span(children[2])
        if one_line(self._text(left_end, right_start)) == symbol:
            self._other_operator((start, end), self._text(start, left_end), symbol,
                                 self._text(right_start, end))

    def _visit_statement(self, child, parent):
        """Removes a statement that is a call."""
        inner = child
        while inner.kind == Kind.UNEXPOSED_EXPR:
            children = list(inner.get_children())
            if len(children) != 1:
                return
            inner = children[0]
        if inner.kind != Kind.CALL_EXPR or inner.spelling.startswith("operator"):
            return
        start, end = self._span(child)
        text, before = self._text(start, end), self._before(start)
        if not self._after(end).startswith(";") or _LOGS.match(text) or not text.endswith(")"):
            return
        if parent.kind != Kind.COMPOUND_STMT and not re.search(r"(?:\)|\belse|:)$", before):
            return
        end = self._bytes.index(b";", end) + 1
        self._add("call", (start, end), "(removed)", "removed")

    def _visit_return(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 1:
            return
        value = children[0]
        start, end = self._span(value)
        if self._span(cursor) in self._macros:
            return  # the macro's own
        text = one_line(self._text(start, end))
        result = self._result or value.type
        kind = result.get_canonical().kind
        if re.fullmatch(r"\{\}|nullptr|\"\"", text) or _LITERAL.fullmatch(text):
            return
        if kind == Type.BOOL:
            self._add("value", (start, end), "!(%s)" % text, "opposite")
        elif self._result is not None and kind not in (Type.LVALUEREFERENCE, Type.RVALUEREFERENCE):
            self._other_result(cursor, end, text, result.spelling)

    def _other_result(self, cursor, end, text, result):
        # The text of an Abseil status identifies it; OK has no other text than
        # this.
        is_status_or = re.search(r"\bStatusOr<", result)
        new = _ANOTHER_STATUS if is_status_or or re.fullmatch(r"absl::OkStatus\(\)", text) else "{}"
        if not self._after(end).startswith(";"):
            return
        end = self._bytes.index(b";", end) + 1
        self._add("value", (cursor.extent.start.offset, end), "return %s;" % new, "returned")

    def _visit_number(self, cursor):
        span = self._span(cursor)
        text = self._text(*span)
        if _LITERAL.fullmatch(text):
            self._add("constant", span, "%s + 1" % text, "value")

    def _visit_bool(self, cursor):
        span = self._span(cursor)
        other = {"true": "false", "false": "true"}.get(self._text(*span))
        if other:
            self._add("constant", span, other, "value")


_OPTIONS = (cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD |
            cindex.TranslationUnit.PARSE_INCOMPLETE)


def find_mutants(name, path, flags):
    """Returns the mutants of the file at `path`, in its order. Raises NotParsed if clang finds errors."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    unit = cindex.Index.create().parse(str(path), args=flags, options=_OPTIONS)
    errors = errors_of(unit)
    if errors:
        raise NotParsed("%s: %s" % (name, errors[0]))
    return _Finder(name, str(path), text, unit).find()


class CompileCheck:
    """Says whether a file compiles with another text. The headers are read once."""

    def __init__(self, path, flags):
        self._path = str(path)
        flags = [*flags, "-Wno-everything", "-Wno-c++11-narrowing", "-Werror=vla-extension"]
        options = (cindex.TranslationUnit.PARSE_INCOMPLETE |
                   cindex.TranslationUnit.PARSE_PRECOMPILED_PREAMBLE)
        self._unit = cindex.Index.create().parse(self._path, args=flags, options=options)

    def errors(self, text):
        self._unit.reparse([(self._path, text)])
        return errors_of(self._unit)
