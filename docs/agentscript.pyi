# Builtins of agentscript for editors that know Python. Generated from the table that defines them.
from types import UnionType
from typing import Any, Callable, Literal, TypeAlias, overload

class Type:
    """A type as a value: str, list[str], A | None, or a schema. When called, it makes a value."""
    def __call__(self, *args: Any, **fields: Any) -> Any: ...
    def __or__(self, other: Any) -> Type: ...
    def __ror__(self, other: Any) -> Type: ...
    def __getattr__(self, name: str) -> Any: ...
    def decode(self, text: str, *, level: Literal["safe", "strict", "loose"] = ..., pick: Literal["best", "first", "last", "error"] = ..., on_bad_item: Literal["error", "drop", "keep"] = ..., extra_keys: Literal["by_level", "drop", "error"] = ..., max_cost: int = ..., max_depth: int = ..., partial: bool = ...) -> Decoded:
        "Reads a value from a model's output and reports what was repaired and what does not fit. The result has .ok, .value, .repairs, .errors and .cost and, if the output does not fit, .partial and .complaint, the text to ask the model again with."
        ...
    def from_llm_output(self, text: str) -> Any:
        "Reads a value from a model's output, leniently. Returns None if no value can be recovered."
        ...
    def json_schema(self, as_dict: bool = ..., *, words: bool = ...) -> str:
        "Returns the JSON Schema as text, with keys in declared order."
        ...
    def llm_description(self) -> str:
        "Returns the description of the type for a model."
        ...
    def partial(self) -> Partial:
        "Returns a partial instance without fields; fields are added as they arrive."
        ...
    def prompt_fragment(self) -> str:
        "Returns the text that asks a model to answer with this type."
        ...
    def stream(self, *, level: Literal["safe", "strict", "loose"] = ..., pick: Literal["best", "first", "last", "error"] = ..., on_bad_item: Literal["error", "drop", "keep"] = ..., extra_keys: Literal["by_level", "drop", "error"] = ..., max_cost: int = ..., max_depth: int = ..., min_text: int = ...) -> Stream:
        "Returns a decoder for a text that arrives in pieces. It has the options of decode."
        ...

class Node:
    """An agent, a step or a composition. In def main it is called with its input."""
    def __call__(self, input: Any) -> Any: ...
    def __rshift__(self, other: Node) -> Node: ...
    def __truediv__(self, other: Node) -> Node: ...
    def __mul__(self, other: Node) -> Node: ...
    def as_tool(self, name: str = ..., doc: str = ..., *, on_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., timeout: str | float = ..., max_result: int = ..., untrusted: bool = ..., max: int = ..., only_after: str | list[str] = ..., forbidden: str = ...) -> Tool:
        "a.as_tool(name, doc) is as_tool(a, name, doc)."
        ...
    def branch(self, routes: dict[Any, Node] | list[When], *, otherwise: Node = ..., output: TypeLike = ...) -> Node:
        "a.branch({...}) is branch(a, {...})."
        ...
    def each(self, *, limit: int = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> Node:
        "a.each() is each(a)."
        ...
    def loop(self, next: Callable | Node = ..., *, max: int = ..., until: Callable | Predicate = ..., repair: Node = ..., on_limit: Literal["fail", "last"] = ...) -> Node:
        "a.loop(next) is loop(a, next)."
        ...
    def then(self, next: Node, /) -> Node:
        "a.then(b) is then(a, b)."
        ...

class Partial:
    """An instance of a schema that arrives field by field."""
    arrived_field_names: list[str]
    def __getitem__(self, name: str) -> Any: ...
    def get(self, name: str, default: Any = ...) -> Any:
        "Returns the value of a field that has arrived, or else the default."
        ...
    def has(self, name: str) -> bool:
        "Reports whether a field has arrived, even as None."
        ...
    def to_complete(self) -> Any:
        "Returns the instance, or None while something is missing or does not fit."
        ...
    def with_field(self, name: str, value: Any) -> Partial:
        "Returns a copy in which the field has arrived; the original is unchanged."
        ...

class Stream:
    """A text that is decoded while it arrives."""
    def close(self, *, cut: bool = ...) -> Decoded:
        "Ends the text and returns the result of decoding it, like decode."
        ...
    def feed(self, text: str) -> list:
        "Adds a piece of the text, which may end anywhere, and returns a list of events that report what it adds to the value. Each event has .kind (text, field, item, variant, repair, reset), .path, .text and .value. A reset voids everything reported before. A closed stream accepts no more text."
        ...
    def partial(self) -> Partial:
        "Returns what is known of a schema or union, field by field."
        ...
    def snapshot(self) -> Any:
        "Returns what is known of the value. Parts that have not arrived are absent, an instance is a dict until its fields are there, and the value is None as long as nothing is known."
        ...
    def state(self, path: str = ...) -> str:
        "Returns how much has arrived of a path such as \".steps[2].title\": \"pending\", \"incomplete\" or \"complete\". A path that the type does not have is an error."
        ...

class Decoded:
    "The result of decoding a model's text, as T.decode and stream.close return it."
    ok: bool
    value: Any
    repairs: list[Repair]
    errors: list[FieldError]
    cost: int
    partial: Any
    complaint: str

class Repair:
    "One change that the decoder made."
    kind: str
    path: str
    before: str
    after: str

class FieldError:
    "One thing that does not fit a type."
    path: str
    expected: str
    got: str
    hint: str
    message: str

class StreamEvent:
    "An event of a text that arrives in pieces; stream.feed returns a list of them."
    kind: str
    path: str
    text: str
    value: Any

class Token:
    "A piece of an answer, as agent(on_token = ...) receives it."
    kind: str
    text: str
    tool: str | None
    attempt: int

class Attempt:
    "The outcome of a call."
    ok: bool
    value: Any
    error: Failure | None
    status: Literal["ok", "failed", "skipped", "cancelled"]
    def __init__(self, *, ok: bool, value: Any, error: Failure | None, status: Literal["ok", "failed", "skipped", "cancelled"]) -> None: ...
    def __class_getitem__(cls, item: Any) -> Type: ...

class Failure:
    "Why a call failed."
    kind: str
    code: str
    message: str
    path: str
    raw: str
    def __init__(self, *, kind: str, code: str, message: str, path: str, raw: str) -> None: ...

class Critique:
    "A verdict and what it is about."
    success: bool
    feedback: str
    input: Any
    def __init__(self, *, success: bool, feedback: str, input: Any) -> None: ...
    def __class_getitem__(cls, item: Any) -> Type: ...

class ToolFailure:
    "A call of a tool that failed."
    tool: str
    args: str
    value: Any
    error: str
    kind: str
    schema: str
    attempt: int
    def __init__(self, *, tool: str, args: str, value: Any, error: str, kind: str, schema: str, attempt: int) -> None: ...

class Remaining:
    "What the budgets leave."
    model_calls: int | None
    tool_calls: int | None
    tokens: int | None
    steps: int | None
    wall_seconds: float | None
    turns: int | None
    usd: float | None

class Approval:
    "What a person decided."
    approved: bool
    reason: str
    edited: bool
    data: Any

class Completed:
    "The result of a command."
    code: int
    stdout: str
    stderr: str
    truncated: bool

class HTTPResponse:
    "The response to an HTTP request."
    status: int
    headers: dict[str, str]
    text: str
    truncated: bool
    url: str

class FileStat:
    "Information about a file."
    path: str
    kind: Literal["file", "dir", "other"]
    size: int
    modified: str

class TestCall:
    "A call that was made in a test."
    name: str
    path: str
    model: str
    system: str
    user: str
    messages: list[TestMessage]
    tools: list[str]
    args: Any
    answer: Any
    error: str | None
    tokens: int

class TestMessage:
    "A message of a call in a test."
    role: str
    text: str

class Memory:
    """A store for notes."""
    def append(self, content: str, *, slot: str = ...) -> None:
        "Adds lines to the notes."
        ...
    def read(self, *, slot: str = ...) -> str:
        "Returns the notes, in a running function; \"\" if there are none."
        ...
    def search(self, query: str, *, slot: str = ...) -> list:
        "Returns the lines of the notes that contain a text, ignoring case."
        ...
    def write(self, content: str, *, slot: str = ...) -> None:
        "Replaces the notes."
        ...

class Image:
    """A picture that an agent takes."""
    url: str
    mime: str
    def __init__(self, *, url: str, mime: str = "") -> None: ...

class Audio:
    """Speech that a model generates, as an agent's output."""
    url: str
    mime: str
    transcript: str
    def __init__(self, *, url: str, mime: str = "", transcript: str = "") -> None: ...

TypeLike: TypeAlias = Type | type[Any] | UnionType | None

class Secret:
    """A text that contains values of environment variables, which are never shown."""
    def __add__(self, other: "str | Secret") -> "Secret": ...
    def __radd__(self, other: str) -> "Secret": ...

class Field: ...
class Skill:
    """One thing that an agent can do."""
    def llm_description(self) -> str:
        "Returns the description of the skill for a model: its own text, or one made from its name, doc, types and knowledge. Types that the skill leaves to its agent are those of the first agent that has the skill, and str before that."
        ...

class Remedy: ...
class Recovery: ...
class Tool: ...
class Knowledge: ...
class Budget: ...
class MCP: ...
class OAuth: ...
class Model: ...
class Router: ...
class History: ...
class When: ...
class Predicate: ...
class Edge: ...
class Finish: ...
class ToolCall: ...
class Pieces: ...
class Test:
    """The argument of a test, def test_it(t)."""
    name: str
    cost: float
    tokens: int
    def approve(self, name: str = ..., approved: bool = ..., *, reason: str = ..., edit: Any = ...) -> None:
        "Decides in place of a person, about tool calls that need approval by the rules or about approve(...) of the script. Unused decisions fail the test."
        ...
    def call(self, name: str, /, **args: Any) -> ToolCall:
        "Returns a model's tool call, for t.reply and t.on."
        ...
    def called(self, name: str, *, times: int = ...) -> None:
        "Fails the test unless something was called. A tool was called if it ran or if t.tool answered for it."
        ...
    def calls(self, name: str) -> list[TestCall]:
        "Lists the calls of an agent's model, a tool or an operation that have been made so far. Tool calls that were denied or had bad arguments are not included: see t.denied."
        ...
    def clock(self, at: str) -> None:
        "Sets the time at which the test begins. In scripts, now() returns this time plus the virtual time that has passed since. By default, the time begins in 1970."
        ...
    def contains(self, got: Any, item: Any, message: str = ...) -> None:
        "Fails the test unless a text, list or dict contains something."
        ...
    def denied(self, name: str, *, times: int = ...) -> None:
        "Fails the test unless a model requested calls of a tool that were not made because a rule or a person denied them or because their arguments did not fit."
        ...
    def dir(self) -> str:
        "Returns a directory that belongs to this test, and lets its run read and write there."
        ...
    def each(self, rows: dict | list, f: Callable) -> None:
        "Runs a function as a test for each row of a table, as t.test does."
        ...
    def eq(self, got: Any, want: Any, message: str = ...) -> None:
        "Fails the test unless two values are equal, and shows where they differ."
        ...
    def events(self) -> list[str]:
        "Lists what has happened so far: a line for each start and end of a node, a call and a tool, without ids and times."
        ...
    def fail(self, agent: str, kind: Literal["auth", "rate_limit", "quota", "context_length", "refused", "not_found", "invalid_request", "unsupported", "overloaded", "server", "network", "timeout", "truncated", "bad_response", "tool"], message: str = ..., *, times: int = ..., status: int = ..., retry_after: str | float = ..., when: str = ..., delay: str | float = ...) -> None:
        "Makes calls of an agent's model fail."
        ...
    def failed(self, outcome: Any, *, kind: str = ..., code: str = ..., message: str = ...) -> Failure:
        "Fails the test unless an attempt failed, and returns the error: t.failed(attempt(main, x), kind = \"budget\")."
        ...
    def false(self, condition: Any, message: str = ...) -> None:
        "Fails the test unless a condition is false."
        ...
    def matches(self, got: str, pattern: str, message: str = ...) -> None:
        "Fails the test unless a regular expression matches some part of a text."
        ...
    def ne(self, got: Any, want: Any, message: str = ...) -> None:
        "Fails the test if two values are equal."
        ...
    def never(self, name: str) -> None:
        "Fails the test if something was called."
        ...
    def on(self, agent: str, answer: Any, *, when: str = ..., delay: str | float = ...) -> None:
        "Answers any number of calls of an agent's model."
        ...
    def order(self, *names: str) -> None:
        "Fails the test unless the first calls of these names were made in the order given."
        ...
    def pieces(self, *pieces: str) -> Pieces:
        "Returns an answer that is streamed in these pieces, for t.reply and t.on."
        ...
    def replay(self, file: str) -> None:
        "Answers from a record of agentscript run --record everything that the test does not answer itself."
        ...
    def reply(self, agent: str, *answers: Any, when: str = ..., delay: str | float = ...) -> None:
        "Answers calls of an agent's model: the answers are used in order, each once. Unused answers fail the test."
        ...
    def request(self, name: str, index: int = ...) -> TestCall:
        "Returns one call of an agent's model, a tool or an operation."
        ...
    def serve(self, server: str, tools: dict) -> None:
        "Sets the tools that an MCP server lists, so that no server is started. t.tool answers their calls. A list that is never requested fails the test."
        ...
    def skip(self, reason: str) -> None:
        "Ends the test as skipped."
        ...
    def snapshot(self, got: Any, name: str = ...) -> None:
        "Compares a value with the one that --update stored next to the test file."
        ...
    def test(self, name: str, f: Callable) -> None:
        "Runs a function as a test inside this one. If it fails, the others still run. What it prepares is for it alone, and its t sees only its own calls."
        ...
    def tool(self, name: str, *results: Any, fail: str = ...) -> None:
        "Answers calls of a tool or an operation instead of making them: the results are used in order, and the last one is repeated. Unused results fail the test; a function may stay unused."
        ...
    def true(self, condition: Any, message: str = ...) -> None:
        "Fails the test unless a condition is true."
        ...


@overload
def schema(more: dict = ..., /, *, _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., **fields: TypeLike | Field) -> Type:
    "Declares a type with fields. The type is named after the variable it is assigned to. T | None or a default makes a field optional."
    ...

@overload
def schema(doc: str, more: dict = ..., /, *, _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., **fields: TypeLike | Field) -> Type:
    "Declares a type with fields. The type is named after the variable it is assigned to. T | None or a default makes a field optional."
    ...

def field(type: TypeLike, guide: str = ..., *, default: Any = ..., ge: float = ..., le: float = ..., gt: float = ..., lt: float = ..., multiple_of: float = ..., unique: bool = ..., min_len: int = ..., max_len: int = ..., pattern: str = ..., format: Literal["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"] = ..., alias: str | list[str] = ..., alias_only: bool = ..., dedent: bool = ..., examples: list = ..., check: Predicate = ..., stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., stream_items: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Field:
    "Describes a field of a schema, or a parameter of a tool or of def main."
    ...

@overload
def union(*variants: TypeLike, _tag: str = ..., _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Type:
    "Declares a type whose values are instances of one of several schemas, distinguished by a tag. An instance written as JSON starts with the tag, unless its own schema is the expected type. If several unions share a schema, the first one declared applies."
    ...

@overload
def union(doc: str, /, *variants: TypeLike, _tag: str = ..., _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Type:
    "Declares a type whose values are instances of one of several schemas, distinguished by a tag. An instance written as JSON starts with the tag, unless its own schema is the expected type. If several unions share a schema, the first one declared applies."
    ...

def enum(*values: str, _doc: str = ..., _notes: dict = ..., _alias: dict = ..., _name: str = ..., _llm_description: str = ...) -> Type:
    "Declares a closed set of strings. An attribute such as Severity.low is the string itself."
    ...

def ref(name: str) -> Type:
    "Refers to a type that is declared later or that contains the reference, for recursive types."
    ...

def type_from_json_schema(schema: dict | str, *, name: str = ..., lenient: bool = ..., _llm_description: str = ...) -> Type:
    "Makes a type from a JSON Schema (draft 2020-12), such as a tool's. Anything in the schema that a type cannot express is an error, reported with its place in the schema."
    ...

def isinstance(value: Any, type: TypeLike | tuple[TypeLike, ...]) -> bool:
    "Reports whether a value is of a type."
    ...

def typeof(value: Any) -> Type:
    "Returns the type of a value: the schema of an instance, list[any] for a list. For a node, the result has .input and .output, the types that the node takes and returns."
    ...

def replace(value: Any, /, **fields: Any) -> Any:
    "Returns a copy of an instance with some fields changed; the original is unchanged."
    ...

def match(value: Any, cases: dict, *, otherwise: Callable = ...) -> Any:
    "Calls the function of the first case that fits and returns its result. Every variant of a union must have a case."
    ...

def fmt(value: Any, spec: str = ...) -> str:
    "Formats a value according to a specification, as Python's format does: [[fill]align][sign][#][0][width][,][.precision][type]."
    ...

def dedent(text: str) -> str:
    "Removes the indentation that all lines share, and blank lines at both ends. Prompts are already dedented."
    ...

def indent_lines(text: str, prefix: str = ...) -> str:
    "Puts a prefix before every line that is not blank."
    ...

def split_lines(text: str) -> list[str]:
    "Returns the lines of a text, with surrounding blanks removed and empty lines left out."
    ...

def join_lines(items: list, bullet: str = ...) -> str:
    "Joins values with newlines."
    ...

def strip_fences(text: str) -> str:
    "Returns the content of the first code fence in a text, or, if it has none, the text with surrounding blanks removed."
    ...

def truncate(text: str, length: int, end: str = ...) -> str:
    "Shortens a text that is too long."
    ...

class json:
    "Reads and writes JSON: json.encode, json.decode, json.indent."
    @staticmethod
    def decode(text: str, default: Any = ...) -> Any:
        "Reads strict JSON. To read a model's output, use T.from_llm_output."
        ...
    @staticmethod
    def encode(value: Any) -> str:
        "Returns a value as JSON on one line. Fields of instances and keys of dicts keep their order."
        ...
    @staticmethod
    def indent(text: str, *, indent: str = ...) -> str:
        "Formats JSON text over several lines."
        ...

def print(*args: Any, sep: str = ...) -> None:
    "Writes values to the log of the run, with the position of the node. While the script loads, they are written to the output for messages."
    ...

def fail(*args: Any, sep: str = ...) -> None:
    "Ends the run, or the loading of the script, with an error."
    ...

def file(path: str) -> str:
    "Returns the text of a file in the script's directory or below. The file is read while the script loads and is part of the script's hash."
    ...

def help(about: Any = ...) -> None:
    "Prints what a value is and how to use it. Without an argument, it lists all builtins."
    ...

def describe(about: Any) -> str:
    "Returns the text that help prints. For a node, this is its name, its types and where it was made, and the same for each of its parts."
    ...

def sum(items: list, /, start: Any = ...) -> Any:
    "Adds up numbers or, with start = [], joins lists."
    ...

class sh:
    "Runs commands granted by --allow-exec, without a shell: sh.run."
    @staticmethod
    def run(command: list[str], *, input: str | Secret = ..., dir: str = ..., timeout: str | float = ...) -> Completed:
        "Runs a command and returns its exit code and output. The command sees only PATH and the granted variables of the host's environment. It is killed, with everything that it started, when its time is up and when the run ends."
        ...

class http:
    "Makes requests to hosts granted by --allow-net: http.get, http.post, http.request."
    @staticmethod
    def get(url: str | Secret, *, headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Fetches a URL. A status such as 404 is not a failure."
        ...
    @staticmethod
    def post(url: str | Secret, *, body: str | Secret = ..., json: Any = ..., headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Sends a POST request to a URL."
        ...
    @staticmethod
    def request(method: str, url: str | Secret, *, body: str | Secret = ..., json: Any = ..., headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Makes a request with any method."
        ...

class fs:
    "Reads and writes files in directories granted by --allow-fs: fs.read, fs.write, fs.list, fs.exists, fs.stat, fs.remove."
    @staticmethod
    def exists(path: str, *, timeout: str | float = ...) -> bool:
        "Reports whether a path exists."
        ...
    @staticmethod
    def list(path: str = ..., *, pattern: str = ..., timeout: str | float = ...) -> list[str]:
        "Lists the content of a directory, sorted. The name of a directory ends with /."
        ...
    @staticmethod
    def read(path: str, *, limit: int = ..., timeout: str | float = ...) -> str:
        "Returns the text of a file."
        ...
    @staticmethod
    def remove(path: str, *, timeout: str | float = ...) -> None:
        "Removes a file or an empty directory. A path that does not exist is not a failure."
        ...
    @staticmethod
    def stat(path: str, *, timeout: str | float = ...) -> FileStat:
        "Returns information about a path: path, kind (file, dir or other), size and modified."
        ...
    @staticmethod
    def write(path: str, text: str, *, timeout: str | float = ...) -> None:
        "Writes a file as a whole: the file has either the new text or the old one, never a part. Missing directories are created."
        ...

class env:
    "Reads environment variables granted by --allow-env: env.get, env.secret."
    @staticmethod
    def get(name: str, default: Any = ..., *, timeout: str | float = ...) -> str:
        "Returns the value of a variable, or the default if it is not set. The value is recorded. Use env.secret for a variable whose name indicates a secret."
        ...
    @staticmethod
    def secret(name: str, *, timeout: str | float = ...) -> Secret:
        "Returns the value of a variable in a form that is never shown, recorded or sent to a model, and that can be used in a request: \"Bearer \" + env.secret(\"API_TOKEN\"). A variable that is not set is an error."
        ...

def agent(name: str = ..., *, input: TypeLike = ..., output: TypeLike = ..., model: str | Model | list[str] = ..., prompt: str | Node = ..., task: str | Node = ..., run: Callable = ..., skills: list[Skill] = ..., tools: list[Tool | MCP | Callable] = ..., offer: list[str] = ..., select: Callable | Router = ..., budget: Budget = ..., policy: Policy = ..., hooks: Hooks | list[Hooks] = ..., on_bad_output: Callable = ..., repairs: int = ..., tool_choice: Literal["auto", "required", "none"] | str = ..., structured: Literal["auto", "constrained", "guided"] = ..., on_token: Callable = ..., on_partial: Callable = ..., memory: Memory = ..., history: Literal["fresh", "shared", "summary"] | History = ..., enough: Predicate = ..., on_tool_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., tools_at_once: int = ..., reasoning_every: int = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Node:
    "Makes an agent: a typed function that a model carries out or, with run, code."
    ...

def skill(name: str, doc: str, *, input: TypeLike = ..., output: TypeLike = ..., run: Callable = ..., tools: list[Tool | MCP | Callable] = ..., knowledge: dict[str, Knowledge | str] = ..., policy: Policy = ..., llm_description: str = ...) -> Skill:
    "Describes one thing that an agent can do. run and tools are mutually exclusive."
    ...

def tool(f: Callable | Tool, params: dict = ..., *, effect: Literal["read", "idempotent", "once"] = ..., returns: TypeLike = ..., name: str = ..., on_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., timeout: str | float = ..., max_result: int = ..., on_unknown: Literal["ask", "fail", "retry"] | Callable = ..., untrusted: bool = ..., max: int = ..., only_after: str | list[str] = ..., forbidden: str = ...) -> Tool:
    "Turns a function into a tool that a model may call."
    ...

def knowledge(doc: str, content: str | Callable) -> Knowledge:
    "Describes a text that a model can ask for. It is not part of the prompt."
    ...

class budget(Budget):
    "Bounds what one call of an agent may use."
    def __init__(self, name: str = ..., *, turns: int = ..., tool_calls: int = ..., model_calls: int = ..., tokens: int = ..., usd: float = ..., steps: int = ..., wall: str | float = ..., depth: int = ..., same_call: int = ..., arg_bytes: int = ..., on_limit: Literal["fail", "answer"] = ..., warn_at: list[float] = ...) -> None:
        "Bounds what one call of an agent may use. All agents and bounded nodes that have a budget with the same name share it. The run's own budget applies as well."
        ...
    @staticmethod
    def remaining() -> Remaining:
        "Returns, in a running function, what the budgets around it leave: model_calls, tool_calls, tokens, steps, wall_seconds, turns, usd. A quantity without a bound is None. The answer is recorded: a replay returns the same."
        ...

def model(name: str | list[str], *, structured: Literal["auto", "constrained", "guided"] = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Model:
    "Describes a model with its parameters, for use by several agents. An agent's own settings take precedence."
    ...

def router(*, model: str | Model | list[str] = ..., threshold: float = ..., otherwise: str = ..., prompt: str = ..., repairs: int = ...) -> Router:
    "Lets a model choose among the skills of an agent by their descriptions: agent(skills = [...], select = router()). The model is asked only if several skills take an input."
    ...

def as_tool(node: Node, name: str = ..., doc: str = ..., *, on_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., timeout: str | float = ..., max_result: int = ..., untrusted: bool = ..., max: int = ..., only_after: str | list[str] = ..., forbidden: str = ...) -> Tool:
    "Turns a node, an agent or any flow, into a tool of an agent. If the node takes a schema, its fields are the tool's parameters; otherwise the tool has one parameter, input. The node runs inside the call, within the budgets around it, and its one place is in that agent."
    ...

def mcp(command: str = ..., *, args: list[str] = ..., env: dict[str, str | Secret] = ..., url: str = ..., headers: dict[str, str | Secret] = ..., auth: OAuth = ..., transport: Literal["auto", "http", "sse"] = ..., tools: list[str] = ..., name: str = ..., timeout: str | float = ..., call_timeout: str | float = ..., effect: Literal["read", "idempotent", "once"] = ..., on_unknown: Literal["ask", "fail", "retry"] | Callable = ..., untrusted: bool = ...) -> MCP:
    "Declares an MCP server. An agent gets the server's tools with tools = [...]. The server is contacted when such an agent runs; its list of tools and the calls are recorded."
    ...

def oauth(*, id: str = ..., secret: Secret = ..., key: Secret = ..., scopes: list[str] = ..., issuer: str = ..., grant: Literal["authorization_code", "client_credentials"] = ...) -> OAuth:
    "Declares that an MCP server at a URL requires OAuth. oauth() is for a person who signed in with agentscript mcp login, oauth(id = ..., secret = secret(...)) for a program. Loading contacts no server, and tokens are never recorded."
    ...

def secret(name: str, *, prefix: str = ...) -> Secret:
    "Names a secret of the host, for headers and env of mcp(...) and for oauth(...). The script never sees its value, and no record, event or message contains it."
    ...

def verify(*, model: str | Model | list[str] = ..., prompt: str | Node = ..., task: str | Node = ..., input: TypeLike = ..., name: str = ..., tools: list[Tool | MCP | Callable] = ..., offer: list[str] = ..., budget: Budget = ..., repairs: int = ..., tool_choice: Literal["auto", "required", "none"] | str = ..., structured: Literal["auto", "constrained", "guided"] = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Node:
    "Makes an agent that judges work: X→Critique[X], which has success (bool), feedback (str) and the input. Edges of graph and routes of branch test it with eq(\"success\", True)."
    ...

def image(source: str) -> Image:
    "Returns a picture for an agent. A file is read when the script loads and becomes part of it; a URL is fetched by the provider."
    ...

def recover(*, bad_args: Remedy | Callable | list[Remedy | Callable] = ..., failure: Remedy | Callable | list[Remedy | Callable] = ...) -> Recovery:
    "Declares how to handle failed tool calls, by class of failure: for tool(on_error = ...) and agent(on_tool_error = ...). Failures of a class that is left out are passed to the model."
    ...

def fix(by: Node | Callable, retries: int = ..., *, then: Literal["call", "result"] = ...) -> Remedy:
    "Lets an agent or a function fix a failed call. It receives the ToolFailure; an agent may take it as a str. For bad arguments it returns new arguments, as JSON text or a dict, which are checked again. For a failure it returns the result, of the type that the tool returns, or new arguments with then = \"call\"."
    ...

def again(times: int = ...) -> Remedy:
    "Executes a failed call again with the same arguments. For bad arguments it does nothing, since they would be read the same way."
    ...

def escalate(reason: str = ..., severity: Literal["low", "medium", "high", "critical"] = ...) -> Remedy:
    "Reports a failed call to people by an event and informs the model; the run continues. Listed in tools = [...], it is a tool with which a model calls for people itself."
    ...

def give_up(reason: str = ...) -> Remedy:
    "Ends the agent with the error AS732 after a failed call. Listed in tools = [...], it is a tool with which a model ends its agent itself."
    ...

def fixed(value: Any, *, then: Literal["call", "result"] = ...) -> Remedy:
    "Fixes a failed call with a value: its arguments or its result."
    ...

def policy(*, allow: list[str] = ..., ask: list[str] = ..., deny: list[str] = ...) -> policy:
    "Declares which tool calls a model may make: patterns such as \"send_mail\", \"fs_*\", \"@once\" (all tools of that effect) and \"pay(amount>100, to=*@example.com)\". deny takes precedence over ask, and ask over allow. The host and the command line have their own rules: the strictest decides."
    ...

def hooks(*, before_tool: Callable | list[Callable] = ..., after_tool: Callable | list[Callable] = ..., before_model: Callable | list[Callable] = ..., after_model: Callable | list[Callable] = ..., on_tool_use: Callable | list[Callable] = ..., on_knowledge_used: Callable | list[Callable] = ..., on_skill_chosen: Callable | list[Callable] = ..., on_model_call: Callable | list[Callable] = ..., on_error: Callable | list[Callable] = ...) -> hooks:
    "Declares functions that run around what an agent does; each parameter takes one function or a list. Interceptors (before, after) decide: all of them run, and the first that does not just proceed decides; one that fails denies. Observers (on) only watch: if one fails, the failure is logged."
    ...

def proceed(value: Any = ...) -> Intercept:
    "Returned by an interceptor to let a call proceed, unchanged or with another value."
    ...

def deny(reason: str) -> Intercept:
    "Returned by an interceptor to stop a call, or to drop its result. The model receives the reason why its tool call was denied; an agent whose model call is denied fails."
    ...

def substitute(value: Any) -> Intercept:
    "Returned by an interceptor to use another result instead of the call's own."
    ...

def memory(name: str, *, scope: Literal["run", "session"] = ..., max_lines: int = ..., max_tokens: int = ..., shared: bool = ...) -> Memory:
    "Makes a store for notes. agent(memory = notes) offers the model memory_read, memory_write, memory_append and memory_search; running functions call its methods."
    ...

def compress(*, after: int = ..., tokens: int = ..., keep: int = ..., how: Literal["window", "summary"] = ..., model: str = ..., history: Literal["shared", "fresh"] = ...) -> History:
    "Keeps a conversation short, for agent(history = ...). The system text and the agent's own input always stay, and a tool call is never separated from its result."
    ...

def conversation(node: Node, /, *, history: Literal["fresh", "shared", "summary"] | History = ...) -> Node:
    "Puts the agents of a flow into one conversation, except those that set their own history. It returns the flow itself, not another node."
    ...

def then(*nodes: Node | list[Node]) -> Node:
    "Runs nodes one after the other, each on the output of the one before it. X→Y, Y→Z become X→Z. The operator is a >> b."
    ...

def par(*nodes: Node | list[Node], limit: int = ..., output: TypeLike = ..., on_error: Literal["raise", "keep", "drop"] = ..., merge: Node | Callable | TypeLike = ...) -> Node:
    "Runs nodes concurrently on the same input and returns the list of their outputs in order. Nodes X→Y become X→list[Y]. The operator is a / b. The first failure cancels the others, unless on_error says otherwise."
    ...

def forum(*nodes: Node | list[Node], rounds: int = ..., captain: Node = ..., consensus: int = ..., otherwise: Node = ...) -> Node:
    "Lets all nodes but the last discuss the input of the first. The last node, the captain, reads the transcript and answers. The operator is a * b. With consensus there is no captain: the answer is what enough participants agree on in the last round."
    ...

def loop(node: Node, next: Callable | Node = ..., *, max: int = ..., until: Callable | Predicate = ..., repair: Node = ..., on_limit: Literal["fail", "last"] = ...) -> Node:
    "Repeats a node. After each turn, next takes the output and returns the input of the following turn, or None to stop; the loop returns the last output. With until and repair, the loop ends when until holds; otherwise repair makes the next input."
    ...

def branch(node: Node, routes: dict[Any, Node] | list[When], *, otherwise: Node = ..., output: TypeLike = ...) -> Node:
    "Routes a node's output to the first handler that takes it. Every variant must be handled, unless otherwise is set."
    ...

def when(predicate: Predicate | TypeLike | Callable, handler: Node) -> When:
    "Declares a route of branch that is taken when a predicate holds."
    ...

def each(node: Node, *, limit: int = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> Node:
    "Runs a node on every item of a list and returns the outputs in order. X→Y becomes list[X]→list[Y]."
    ...

def fn(f: Callable, input: TypeLike = ..., output: TypeLike = ...) -> Node:
    "Turns a function into a step. Types that are not declared are any, and are checked where they meet a declared one. fn(float) converts."
    ...

def pick(field: str, input: TypeLike = ...) -> Node:
    "Returns one field of its input. Its types follow from the node before it, or from input if a flow begins with it."
    ...

def template(text: str, input: TypeLike = ...) -> Node:
    "Makes a str from its input, as a step or as the prompt of an agent. The text is dedented; its placeholders are checked against the input type."
    ...

@overload
def eq(value: Any = ..., /, *, fold: bool = ..., exact: bool = ...) -> Predicate:
    "A condition: the value equals this one; eq(\"field\", x) tests a field. Conditions combine with &, | and ~; they can be checked for gaps, drawn and exported."
    ...

@overload
def eq(field: str, value: Any = ..., /, *, fold: bool = ..., exact: bool = ...) -> Predicate:
    "A condition: the value equals this one; eq(\"field\", x) tests a field. Conditions combine with &, | and ~; they can be checked for gaps, drawn and exported."
    ...

@overload
def ne(value: Any = ..., /, *, fold: bool = ..., exact: bool = ...) -> Predicate:
    "A condition: the value does not equal this one."
    ...

@overload
def ne(field: str, value: Any = ..., /, *, fold: bool = ..., exact: bool = ...) -> Predicate:
    "A condition: the value does not equal this one."
    ...

@overload
def gt(value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is greater."
    ...

@overload
def gt(field: str, value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is greater."
    ...

@overload
def ge(value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is greater or equal: ge(80), ge(\"score\", 80)."
    ...

@overload
def ge(field: str, value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is greater or equal: ge(80), ge(\"score\", 80)."
    ...

@overload
def lt(value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is less."
    ...

@overload
def lt(field: str, value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is less."
    ...

@overload
def le(value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is less or equal."
    ...

@overload
def le(field: str, value: Any = ..., /, *, fold: bool = ...) -> Predicate:
    "A condition: the value is less or equal."
    ...

@overload
def matches(value: Any = ..., /) -> Predicate:
    "A condition: some part of the text matches a regular expression (RE2)."
    ...

@overload
def matches(field: str, value: Any = ..., /) -> Predicate:
    "A condition: some part of the text matches a regular expression (RE2)."
    ...

def has(field: str, value: Any = ..., /) -> Predicate:
    "A condition: a field is present and not None. has(\"tags\", \"urgent\") holds if a list contains that item, a text that part, or a dict that key."
    ...

always: Predicate

never: Predicate

def graph(start: Node, edges: list[Edge], *, on_no_match: Literal["error", "finish"] | Node = ..., max_steps: int = ..., output: TypeLike = ...) -> Node:
    "Runs nodes along edges, with cycles and joins. It begins with start and ends at FINISH or at a node that no edge leaves. Every node has one place in the graph and any number of edges."
    ...

def edge(source: Node, target: Node | Finish, *, when: Predicate | TypeLike | Callable | bool | str | None = ..., map: Node | Callable | TypeLike = ...) -> Edge:
    "Declares an edge of graph."
    ...

FINISH: Finish

@overload
def fallback(*nodes: Node | list[Node], output: TypeLike = ...) -> Node:
    "Runs nodes on the same input, one after the other, until one succeeds. If all fail, the last error is reported, with notes about the others. Nodes X→Y become X→Y."
    ...

@overload
def fallback(calls: list[Callable | Node | tuple], /, *args: Any) -> Any:
    "Makes the calls one after the other, with the same arguments, until one succeeds. If all fail, the last error is reported, with notes about the others."
    ...

@overload
def race(*nodes: Node | list[Node], output: TypeLike = ...) -> Node:
    "Runs nodes concurrently on the same input. The first success wins, and the others are cancelled. If all fail, the error of the first node is reported, with notes about the others. Nodes X→Y become X→Y."
    ...

@overload
def race(calls: list[Callable | Node | tuple], /, *args: Any) -> Any:
    "Makes all calls concurrently, with the same arguments. The first that succeeds wins, and the others are cancelled. A replay returns the result of the same winner."
    ...

@overload
def retry(node: Node, max: int = ..., *, until: Callable | Predicate = ..., on_limit: Literal["fail", "last"] = ..., feedback: Callable = ...) -> Node:
    "Runs a node again on the same input if it fails or if its output does not satisfy until. What ends the run, its budget or a cancellation, is not retried."
    ...

@overload
def retry(f: Callable | Node, /, *args: Any, max: int = ..., until: Callable | Predicate = ..., on_limit: Literal["fail", "last"] = ...) -> Any:
    "Repeats a call if it fails and the failure can be caught, and while until does not hold for its result."
    ...

def vote(*nodes: Node | list[Node], by: Literal["majority", "max"] = ..., weights: list[float] = ..., key: str | Callable = ..., judge: Node = ..., quorum: int = ..., output: TypeLike = ...) -> Node:
    "Runs nodes concurrently on the same input and returns one output: the most frequent, the one with the greatest key, or the one that a judge makes from all. Ties go to the first in the order written. Nodes X→Y become X→Y. A single node that returns a list, such as par(...) or each(...), holds all voters."
    ...

def bounded(node: Node, budget: Budget) -> Node:
    "Bounds what a node, with everything inside it, uses each time it runs. Around an each, all branches share the budget; inside an each, every branch has its own. X→Y stays X→Y."
    ...

def wrap(teacher: Node, student: Node) -> Node:
    "Lets a teacher write the system text of a student for each call. Both receive the input: the teacher is X→str; the student is X→Y and carried out by a model. The result is X→Y. The student's own prompt is for calls without a teacher."
    ...

def handoff(node: Node, routes: dict[Any, Node] | list[When], *, otherwise: Node = ..., output: TypeLike = ...) -> Node:
    "Hands a node's output to the first target whose key takes it. It is a branch whose event reports the sender, the receiver and the value. A target receives only its typed input, not the transcript of a forum."
    ...

@overload
def attempt(node: Node, /) -> Node:
    "Calls a function or a node in a run and returns the outcome: ok, value, error and status. While the file loads, attempt(node) is a node that does this: X→Y becomes X→Attempt[Y]. The run continues after a failure of the call, except when the run is cancelled or out of time, when a limit of the whole run is reached, or after a panic."
    ...

@overload
def attempt(f: Callable | Node, /, *args: Any, **kwargs: Any) -> Attempt:
    "Calls a function or a node in a run and returns the outcome: ok, value, error and status. While the file loads, attempt(node) is a node that does this: X→Y becomes X→Attempt[Y]. The run continues after a failure of the call, except when the run is cancelled or out of time, when a limit of the whole run is reached, or after a panic."
    ...

def parallel(f: Callable | Node | list, items: list = ..., /, *, limit: int = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> list:
    "Makes calls concurrently, in a running function, and returns their results in order. Each call has its own branch: values that enter a branch are frozen, and values that leave it are data. The first failure ends the others, unless on_error says otherwise."
    ...

def stream(items: list, /, *stages: Callable | Node, limit: int | list[int] = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> list:
    "Sends items through stages, in a running function, and returns the results of the last stage in the order of the items. An item does not wait for the others: it enters a stage as soon as there is room. With on_error = \"raise\", a failing item ends the others."
    ...

def phase(name: str) -> None:
    "Reports to observers of a run what it does next. It changes nothing else; positions stay the same. A phase lasts until the next one at the same position."
    ...

def approve(question: str, data: Any = ...) -> Approval:
    "Asks a person, in a running function, and returns the decision: approved (bool), reason, edited (bool) and data. The answer is recorded: a replay asks nobody."
    ...

def approval(question: str, input: TypeLike = ...) -> Node:
    "A step that a person must approve. It returns its input, or the value that the person replaces it with. If denied, it fails."
    ...

def wait(name: str, type: TypeLike = ...) -> any:
    "Waits, in a running function, for a value that is sent to the run under a name, by agentscript runs answer RUN NAME --result JSON or by a host's Engine.Signal. Meanwhile the run is parked, and its process may end. The value is recorded."
    ...

def sleep(time: str | float) -> None:
    "Waits, in a running function, for a duration; other branches of the run continue. The time at which the wait ends is recorded: a resumed run waits only for the remainder. In virtual time, as in tests, it takes no time."
    ...

def now(form: Literal["text", "unix"] = ...) -> str | float:
    "Returns the current time, in a running function. The answer is recorded: a replay returns the same. Virtual time, as in tests, begins at 1970-01-01T00:00:00.000Z."
    ...

def random(n: int = ...) -> float | int:
    "Returns a random number, in a running function: a float from 0 up to but not including 1 or, with n, an int below n. It is derived from the seed of the run and the place of the call, so that a resumed or replayed run draws the same number. It is not secret: do not use it to make keys."
    ...

def uuid() -> str:
    "Returns a new id, in a running function, in the form of a random UUID. Like random, it is derived from the seed of the run and the place of the call. It is not secret: do not use it to make keys."
    ...

def load_flow(path: str, *, tools: dict[str, Tool | Callable] = ..., compat: Literal["koog"] = ..., max_steps: int = ..., name: str = ...) -> Node:
    "Reads a flow written as JSON and makes it a node like any other, which takes a str and returns what its last agent returns. Its agents share one conversation."
    ...
