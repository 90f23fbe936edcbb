# Builtins of agentscript for editors that know Python. Generated from the table they run by.
from types import UnionType
from typing import Any, Callable, Literal, TypeAlias, overload

class Type:
    """A type as a value: str, list[str], A | None, or a schema. Called, it makes a value."""
    def __call__(self, *args: Any, **fields: Any) -> Any: ...
    def __or__(self, other: Any) -> Type: ...
    def __ror__(self, other: Any) -> Type: ...
    def __getattr__(self, name: str) -> Any: ...
    def decode(self, text: str, *, level: Literal["safe", "strict", "loose"] = ..., pick: Literal["best", "first", "last", "error"] = ..., on_bad_item: Literal["error", "drop", "keep"] = ..., extra_keys: Literal["by_level", "drop", "error"] = ..., max_cost: int = ..., max_depth: int = ..., partial: bool = ...) -> Decoded:
        "Reads a value from what a model wrote and reports what was repaired and what does not fit: .ok, .value, .repairs, .errors, .cost, and when it does not fit .partial and .complaint, the text to ask again with."
        ...
    def from_llm_output(self, text: str) -> Any:
        "Reads a value from what a model wrote, leniently. Returns None when no value can be recovered."
        ...
    def json_schema(self, as_dict: bool = ..., *, words: bool = ...) -> str:
        "Returns the JSON Schema, as text with keys in declared order."
        ...
    def llm_description(self) -> str:
        "Describes the type to a model."
        ...
    def partial(self) -> Partial:
        "Begins an instance that arrives field by field."
        ...
    def prompt_fragment(self) -> str:
        "Returns the text that asks a model to answer with this type."
        ...
    def stream(self, *, level: Literal["safe", "strict", "loose"] = ..., pick: Literal["best", "first", "last", "error"] = ..., on_bad_item: Literal["error", "drop", "keep"] = ..., extra_keys: Literal["by_level", "drop", "error"] = ..., max_cost: int = ..., max_depth: int = ..., min_text: int = ...) -> Stream:
        "Begins to decode a text that arrives in pieces. The options are those of decode."
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
        "Returns the value of a field that has arrived, else the default."
        ...
    def has(self, name: str) -> bool:
        "Reports whether a field has arrived, even as None."
        ...
    def to_complete(self) -> Any:
        "Returns the instance, or None while something is missing or does not fit."
        ...
    def with_field(self, name: str, value: Any) -> Partial:
        "Returns a version in which the field has arrived; the original is unchanged."
        ...

class Stream:
    """A text that is decoded while it arrives."""
    def close(self, *, cut: bool = ...) -> Decoded:
        "Ends the text and returns what it was read as, like decode."
        ...
    def feed(self, text: str) -> list:
        "Adds a piece of the text, which may end anywhere, and returns what became known by it: a list of events with .kind (text, field, item, variant, repair, reset), .path, .text and .value. After a reset all that was shown before is void. A stream that is closed takes no more."
        ...
    def partial(self) -> Partial:
        "Returns what is known of a schema or union, field by field."
        ...
    def snapshot(self) -> Any:
        "Returns what is known of the value: what has not arrived is absent, an instance is a dict until its fields are there, and it is None as long as nothing is known."
        ...
    def state(self, path: str = ...) -> str:
        "Returns how much has arrived of a path such as \".steps[2].title\": \"pending\", \"incomplete\" or \"complete\". A path that the type does not have is an error."
        ...

class Decoded:
    "What a text of a model was read as: T.decode and stream.close return it."
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
    "What became known while a text arrived: stream.feed returns a list of them."
    kind: str
    path: str
    text: str
    value: Any

class Token:
    "A piece of an answer: agent(on_token = ...) is called with it."
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
    "What came of a command."
    code: int
    stdout: str
    stderr: str
    truncated: bool

class HTTPResponse:
    "The answer to a request of HTTP."
    status: int
    headers: dict[str, str]
    text: str
    truncated: bool
    url: str

class FileStat:
    "What is known of a file."
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
    """A place for notes."""
    def append(self, content: str, *, slot: str = ...) -> None:
        "Adds lines to the notes."
        ...
    def read(self, *, slot: str = ...) -> str:
        "Returns the notes, in a function that runs; \"\" when there are none."
        ...
    def search(self, query: str, *, slot: str = ...) -> list:
        "Returns the lines of the notes that contain a text, in upper or lower case."
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
    """What a model says aloud, as an agent's output."""
    url: str
    mime: str
    transcript: str
    def __init__(self, *, url: str, mime: str = "", transcript: str = "") -> None: ...

TypeLike: TypeAlias = Type | type[Any] | UnionType | None

class Secret:
    """A text with values of environment variables in it that are not shown."""
    def __add__(self, other: "str | Secret") -> "Secret": ...
    def __radd__(self, other: str) -> "Secret": ...

class Field: ...
class Skill:
    """One thing that an agent can do."""
    def llm_description(self) -> str:
        "Returns what a model reads about the skill: its own text, or one made of its name, doc, types and knowledge. Types that it leaves to its agent are those of the first agent that has it, and str before that."
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
    """A test: what def test_it(t) is called with."""
    name: str
    cost: float
    tokens: int
    def approve(self, name: str = ..., approved: bool = ..., *, reason: str = ..., edit: Any = ...) -> None:
        "Decides where a person would: about calls of a tool that rules want approved, or about approve(...) of the script. Decisions that are left over fail the test."
        ...
    def call(self, name: str, /, **args: Any) -> ToolCall:
        "Is a model's call of a tool, for t.reply and t.on."
        ...
    def called(self, name: str, *, times: int = ...) -> None:
        "Fails the test unless something was called. A tool was when it ran, or t.tool answered for it."
        ...
    def calls(self, name: str) -> list[TestCall]:
        "Lists the calls of an agent's model, a tool or an operation that were made by now. Calls of tools that were denied, or had bad arguments, were not: see t.denied."
        ...
    def clock(self, at: str) -> None:
        "Says what the time is when the test begins: now() of the scripts returns it, with what has passed since of the time of the test. Without it that time begins in 1970."
        ...
    def contains(self, got: Any, item: Any, message: str = ...) -> None:
        "Fails the test unless a text, list or dict contains something."
        ...
    def denied(self, name: str, *, times: int = ...) -> None:
        "Fails the test unless a model asked for calls of a tool that were not made: a rule or a person denied them, or their arguments did not fit."
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
        "Lists what happened by now: a line for each start and end of a node, a call and a tool, without ids and times."
        ...
    def fail(self, agent: str, kind: Literal["auth", "rate_limit", "quota", "context_length", "refused", "not_found", "invalid_request", "unsupported", "overloaded", "server", "network", "timeout", "truncated", "bad_response", "tool"], message: str = ..., *, times: int = ..., status: int = ..., retry_after: str | float = ..., when: str = ..., delay: str | float = ...) -> None:
        "Lets calls of an agent's model fail."
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
        "Fails the test unless the first calls of several were made one after the other."
        ...
    def pieces(self, *pieces: str) -> Pieces:
        "Is an answer that is streamed in these pieces, for t.reply and t.on."
        ...
    def replay(self, file: str) -> None:
        "Answers from a record of agentscript run --record what the test does not answer itself."
        ...
    def reply(self, agent: str, *answers: Any, when: str = ..., delay: str | float = ...) -> None:
        "Answers calls of an agent's model, in order and each once. Answers that are left over fail the test."
        ...
    def request(self, name: str, index: int = ...) -> TestCall:
        "Returns one call of an agent's model, a tool or an operation."
        ...
    def serve(self, server: str, tools: dict) -> None:
        "Says which tools an MCP server lists, so that none is started. t.tool answers their calls. A list that nobody asks for fails the test."
        ...
    def skip(self, reason: str) -> None:
        "Ends the test as skipped."
        ...
    def snapshot(self, got: Any, name: str = ...) -> None:
        "Compares a value with the one that --update stored beside the test file."
        ...
    def test(self, name: str, f: Callable) -> None:
        "Runs a function as a test inside of this one: the others run although it fails. What it prepares is for it alone, and its t sees its own calls."
        ...
    def tool(self, name: str, *results: Any, fail: str = ...) -> None:
        "Answers calls of a tool or an operation instead of making them: in order, the last result again and again. Results that are left over fail the test; a function may be left over."
        ...
    def true(self, condition: Any, message: str = ...) -> None:
        "Fails the test unless a condition is true."
        ...


@overload
def schema(more: dict = ..., /, *, _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., **fields: TypeLike | Field) -> Type:
    "Declares a type with fields. It takes its name from the variable it is assigned to. T | None or a default makes a field optional."
    ...

@overload
def schema(doc: str, more: dict = ..., /, *, _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., **fields: TypeLike | Field) -> Type:
    "Declares a type with fields. It takes its name from the variable it is assigned to. T | None or a default makes a field optional."
    ...

def field(type: TypeLike, guide: str = ..., *, default: Any = ..., ge: float = ..., le: float = ..., gt: float = ..., lt: float = ..., multiple_of: float = ..., unique: bool = ..., min_len: int = ..., max_len: int = ..., pattern: str = ..., format: Literal["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"] = ..., alias: str | list[str] = ..., alias_only: bool = ..., dedent: bool = ..., examples: list = ..., check: Predicate = ..., stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ..., stream_items: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Field:
    "Describes a field of a schema, or a parameter of a tool or of def main."
    ...

@overload
def union(*variants: TypeLike, _tag: str = ..., _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Type:
    "Declares a type whose values are instances of one of several schemas, told apart by a tag. JSON that is made of such an instance starts with the tag, unless its own schema is what is wanted; of several unions that share a schema the first declared counts."
    ...

@overload
def union(doc: str, /, *variants: TypeLike, _tag: str = ..., _name: str = ..., _llm_description: str = ..., _stream: Literal["atomic", "first", "state", "done", "not_null", "with_state"] | list[Literal["atomic", "first", "state", "done", "not_null", "with_state"]] = ...) -> Type:
    "Declares a type whose values are instances of one of several schemas, told apart by a tag. JSON that is made of such an instance starts with the tag, unless its own schema is what is wanted; of several unions that share a schema the first declared counts."
    ...

def enum(*values: str, _doc: str = ..., _notes: dict = ..., _alias: dict = ..., _name: str = ..., _llm_description: str = ...) -> Type:
    "Declares a closed set of strings. Severity.low is the string."
    ...

def ref(name: str) -> Type:
    "Refers to a type that is declared later, or around the reference: a recursive type."
    ...

def type_from_json_schema(schema: dict | str, *, name: str = ..., lenient: bool = ..., _llm_description: str = ...) -> Type:
    "Makes a type of a JSON Schema (draft 2020-12), such as a tool's. What the schema says and a type cannot is an error with its place in the schema."
    ...

def isinstance(value: Any, type: TypeLike | tuple[TypeLike, ...]) -> bool:
    "Reports whether a value is of a type."
    ...

def typeof(value: Any) -> Type:
    "Returns the type of a value: the schema of an instance, list[any] of a list. Of a node it returns .input and .output, the types of what the node takes and returns."
    ...

def replace(value: Any, /, **fields: Any) -> Any:
    "Returns an instance with some fields changed; the original stays as it is."
    ...

def match(value: Any, cases: dict, *, otherwise: Callable = ...) -> Any:
    "Calls the function of the case that fits and returns its result. Every variant of a union must have a case."
    ...

def fmt(value: Any, spec: str = ...) -> str:
    "Formats a value by a specification: [[fill]align][sign][#][0][width][,][.precision][type], as Python's format does."
    ...

def dedent(text: str) -> str:
    "Takes away the indentation that all lines have in common, and blank lines at both ends. Prompts are dedented already."
    ...

def indent_lines(text: str, prefix: str = ...) -> str:
    "Puts a prefix in front of every line that is not blank."
    ...

def split_lines(text: str) -> list[str]:
    "Returns the lines of a text, without blanks around them and without empty ones."
    ...

def join_lines(items: list, bullet: str = ...) -> str:
    "Joins values by line ends."
    ...

def strip_fences(text: str) -> str:
    "Returns what is inside the first code fence of a text, or the text without blanks around it when it has no fence."
    ...

def truncate(text: str, length: int, end: str = ...) -> str:
    "Cuts a text that is too long."
    ...

class json:
    "Reads and writes JSON: json.encode, json.decode, json.indent."
    @staticmethod
    def decode(text: str, default: Any = ...) -> Any:
        "Reads strict JSON. What a model wrote is read by T.from_llm_output."
        ...
    @staticmethod
    def encode(value: Any) -> str:
        "Writes a value as JSON on one line. Instances keep the order of their fields, dicts theirs."
        ...
    @staticmethod
    def indent(text: str, *, indent: str = ...) -> str:
        "Lays JSON text out over lines."
        ...

def print(*args: Any, sep: str = ...) -> None:
    "Writes values to the log of the run, with the position of the node; while loading, to the output for messages."
    ...

def fail(*args: Any, sep: str = ...) -> None:
    "Ends the run, or the loading, with an error."
    ...

def file(path: str) -> str:
    "Returns the text of a file in the script's directory or below. It is read while the script loads and belongs to its hash."
    ...

def help(about: Any = ...) -> None:
    "Prints what a value is and how it is used; without an argument, all builtins."
    ...

def describe(about: Any) -> str:
    "Returns the text that help prints: of a node its name, its types, where it was made, and the same of its parts."
    ...

def sum(items: list, /, start: Any = ...) -> Any:
    "Adds up numbers, or with start = [] joins lists."
    ...

class sh:
    "Runs commands that are granted by --allow-exec, without a shell: sh.run."
    @staticmethod
    def run(command: list[str], *, input: str | Secret = ..., dir: str = ..., timeout: str | float = ...) -> Completed:
        "Runs a command and returns its exit code and output. Of the host's environment it sees PATH and the granted variables alone; it is killed with all that it started when its time is up and when the run ends."
        ...

class http:
    "Makes requests to hosts that are granted by --allow-net: http.get, http.post, http.request."
    @staticmethod
    def get(url: str | Secret, *, headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Fetches a URL. A status such as 404 is not a failure."
        ...
    @staticmethod
    def post(url: str | Secret, *, body: str | Secret = ..., json: Any = ..., headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Sends something to a URL."
        ...
    @staticmethod
    def request(method: str, url: str | Secret, *, body: str | Secret = ..., json: Any = ..., headers: dict = ..., timeout: str | float = ...) -> HTTPResponse:
        "Makes a request of any method."
        ...

class fs:
    "Reads and writes files in directories that are granted by --allow-fs: fs.read, fs.write, fs.list, fs.exists, fs.stat, fs.remove."
    @staticmethod
    def exists(path: str, *, timeout: str | float = ...) -> bool:
        "Reports whether there is something at a path."
        ...
    @staticmethod
    def list(path: str = ..., *, pattern: str = ..., timeout: str | float = ...) -> list[str]:
        "Lists what is in a directory, sorted; the name of a directory ends with /."
        ...
    @staticmethod
    def read(path: str, *, limit: int = ..., timeout: str | float = ...) -> str:
        "Returns the text of a file."
        ...
    @staticmethod
    def remove(path: str, *, timeout: str | float = ...) -> None:
        "Removes a file, or a directory that is empty. A path that does not exist is not a failure."
        ...
    @staticmethod
    def stat(path: str, *, timeout: str | float = ...) -> FileStat:
        "Returns what is at a path: path, kind (file, dir or other), size and modified."
        ...
    @staticmethod
    def write(path: str, text: str, *, timeout: str | float = ...) -> None:
        "Writes a file as a whole: it has the new text or the old one, never a part. Directories that are missing are made."
        ...

class env:
    "Reads environment variables that are granted by --allow-env: env.get, env.secret."
    @staticmethod
    def get(name: str, default: Any = ..., *, timeout: str | float = ...) -> str:
        "Returns the value of a variable, or the default when it is not set. The value is recorded; a variable whose name says that it is a secret is read by env.secret."
        ...
    @staticmethod
    def secret(name: str, *, timeout: str | float = ...) -> Secret:
        "Returns the value of a variable in a form that is never shown, recorded or sent to a model, and that can be put into a request: \"Bearer \" + env.secret(\"API_TOKEN\"). It is an error when it is not set."
        ...

def agent(name: str = ..., *, input: TypeLike = ..., output: TypeLike = ..., model: str | Model | list[str] = ..., prompt: str | Node = ..., task: str | Node = ..., run: Callable = ..., skills: list[Skill] = ..., tools: list[Tool | MCP | Callable] = ..., offer: list[str] = ..., select: Callable | Router = ..., budget: Budget = ..., policy: Policy = ..., hooks: Hooks | list[Hooks] = ..., on_bad_output: Callable = ..., repairs: int = ..., tool_choice: Literal["auto", "required", "none"] | str = ..., structured: Literal["auto", "constrained", "guided"] = ..., on_token: Callable = ..., on_partial: Callable = ..., memory: Memory = ..., history: Literal["fresh", "shared", "summary"] | History = ..., enough: Predicate = ..., on_tool_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., tools_at_once: int = ..., reasoning_every: int = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Node:
    "Makes an agent: a typed function that a model carries out, or code when it has run."
    ...

def skill(name: str, doc: str, *, input: TypeLike = ..., output: TypeLike = ..., run: Callable = ..., tools: list[Tool | MCP | Callable] = ..., knowledge: dict[str, Knowledge | str] = ..., policy: Policy = ..., llm_description: str = ...) -> Skill:
    "Describes one thing that an agent can do. run and tools exclude each other."
    ...

def tool(f: Callable | Tool, params: dict = ..., *, effect: Literal["read", "idempotent", "once"] = ..., returns: TypeLike = ..., name: str = ..., on_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., timeout: str | float = ..., max_result: int = ..., on_unknown: Literal["ask", "fail", "retry"] | Callable = ..., untrusted: bool = ..., max: int = ..., only_after: str | list[str] = ..., forbidden: str = ...) -> Tool:
    "Makes a function a tool that a model may call."
    ...

def knowledge(doc: str, content: str | Callable) -> Knowledge:
    "Describes a text that a model can ask for. It is not part of the prompt."
    ...

class budget(Budget):
    "Bounds what one call of an agent may use."
    def __init__(self, name: str = ..., *, turns: int = ..., tool_calls: int = ..., model_calls: int = ..., tokens: int = ..., usd: float = ..., steps: int = ..., wall: str | float = ..., depth: int = ..., same_call: int = ..., arg_bytes: int = ..., on_limit: Literal["fail", "answer"] = ..., warn_at: list[float] = ...) -> None:
        "Bounds what one call of an agent may use. A budget with a name bounds all agents and bounded nodes that have it, together. The run's own budget holds as well."
        ...
    @staticmethod
    def remaining() -> Remaining:
        "Returns, in a function that runs, what the budgets around it leave: model_calls, tool_calls, tokens, steps, wall_seconds, turns, usd. What nothing bounds is None. The answer is recorded: a replay returns the same."
        ...

def model(name: str | list[str], *, structured: Literal["auto", "constrained", "guided"] = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Model:
    "Describes a model with its parameters, for several agents. What the agent says itself goes first."
    ...

def router(*, model: str | Model | list[str] = ..., threshold: float = ..., otherwise: str = ..., prompt: str = ..., repairs: int = ...) -> Router:
    "Has a model choose among the skills of an agent, by their descriptions: agent(skills = [...], select = router()). It is asked only when several skills take an input."
    ...

def as_tool(node: Node, name: str = ..., doc: str = ..., *, on_error: Recovery | Remedy | Callable | list[Remedy | Callable] = ..., timeout: str | float = ..., max_result: int = ..., untrusted: bool = ..., max: int = ..., only_after: str | list[str] = ..., forbidden: str = ...) -> Tool:
    "Makes a node, an agent or any flow, a tool of an agent. The fields of a schema that it takes are the parameters; what takes anything else has one, input. It runs inside the call, within the budgets around it, and its one place is in that agent."
    ...

def mcp(command: str = ..., *, args: list[str] = ..., env: dict[str, str | Secret] = ..., url: str = ..., headers: dict[str, str | Secret] = ..., auth: OAuth = ..., transport: Literal["auto", "http", "sse"] = ..., tools: list[str] = ..., name: str = ..., timeout: str | float = ..., call_timeout: str | float = ..., effect: Literal["read", "idempotent", "once"] = ..., on_unknown: Literal["ask", "fail", "retry"] | Callable = ..., untrusted: bool = ...) -> MCP:
    "Declares an MCP server, whose tools an agent gets with tools = [...]. It is contacted when such an agent runs; its list of tools and the calls are recorded."
    ...

def oauth(*, id: str = ..., secret: Secret = ..., key: Secret = ..., scopes: list[str] = ..., issuer: str = ..., grant: Literal["authorization_code", "client_credentials"] = ...) -> OAuth:
    "Declares that an MCP server at a URL wants OAuth: oauth() of a person who signed in with agentscript mcp login, oauth(id = ..., secret = secret(...)) of a program. Loading contacts nobody, and no token is in any record."
    ...

def secret(name: str, *, prefix: str = ...) -> Secret:
    "Names a secret of the host, for headers and env of mcp(...) and for oauth(...). The script never sees its value, and no record, event or message holds it."
    ...

def verify(*, model: str | Model | list[str] = ..., prompt: str | Node = ..., task: str | Node = ..., input: TypeLike = ..., name: str = ..., tools: list[Tool | MCP | Callable] = ..., offer: list[str] = ..., budget: Budget = ..., repairs: int = ..., tool_choice: Literal["auto", "required", "none"] | str = ..., structured: Literal["auto", "constrained", "guided"] = ..., temperature: float = ..., top_p: float = ..., max_tokens: int = ..., seed: int = ..., stop: str | list[str] = ..., effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = ..., reasoning_tokens: int = ..., cache: bool = ..., parallel_tool_calls: bool = ..., extra: dict = ...) -> Node:
    "Makes an agent that judges work: X→Critique[X], which is success (bool), feedback (str) and the input. Edges of graph and routes of branch ask it as eq(\"success\", True)."
    ...

def image(source: str) -> Image:
    "Returns a picture for an agent. A file is read when the script loads and belongs to it; the provider reads what is behind a URL."
    ...

def recover(*, bad_args: Remedy | Callable | list[Remedy | Callable] = ..., failure: Remedy | Callable | list[Remedy | Callable] = ...) -> Recovery:
    "Declares what to do about calls of a tool that fail, by class: for tool(on_error = ...) and agent(on_tool_error = ...). A class that is left out goes back to the model."
    ...

def fix(by: Node | Callable, retries: int = ..., *, then: Literal["call", "result"] = ...) -> Remedy:
    "Has an agent or a function mend a call that failed. It gets the ToolFailure; an agent may take it as a str. For bad arguments it returns the arguments, as JSON text or a dict, which are checked again; for a failure it returns the result, of the type that the tool returns, or with then = \"call\" new arguments."
    ...

def again(times: int = ...) -> Remedy:
    "Executes a call that failed again, with the same arguments. For bad arguments it does nothing: they would be read the same."
    ...

def escalate(reason: str = ..., severity: Literal["low", "medium", "high", "critical"] = ...) -> Remedy:
    "Reports a call that failed to people, by an event, and says so to the model; the run goes on. Listed in tools = [...], it is a tool by which a model calls for people itself."
    ...

def give_up(reason: str = ...) -> Remedy:
    "Ends the agent with the error AS732 when a call failed. Listed in tools = [...], it is a tool by which a model ends its agent itself."
    ...

def fixed(value: Any, *, then: Literal["call", "result"] = ...) -> Remedy:
    "Mends a call that failed with a value: its arguments, or its result."
    ...

def policy(*, allow: list[str] = ..., ask: list[str] = ..., deny: list[str] = ...) -> policy:
    "Declares which tool calls a model may make: patterns such as \"send_mail\", \"fs_*\", \"@once\" (all tools of that effect) and \"pay(amount>100, to=*@example.com)\". deny goes before ask, and ask before allow. The host and the command line have rules of their own: the strictest decides."
    ...

def hooks(*, before_tool: Callable | list[Callable] = ..., after_tool: Callable | list[Callable] = ..., before_model: Callable | list[Callable] = ..., after_model: Callable | list[Callable] = ..., on_tool_use: Callable | list[Callable] = ..., on_knowledge_used: Callable | list[Callable] = ..., on_skill_chosen: Callable | list[Callable] = ..., on_model_call: Callable | list[Callable] = ..., on_error: Callable | list[Callable] = ...) -> hooks:
    "Functions around what an agent does, each one or a list. Interceptors (before, after) decide: all run, and the first that does not just proceed decides; one that fails denies. Observers (on) look on: one that fails is logged."
    ...

def proceed(value: Any = ...) -> Intercept:
    "An interceptor returns it to let a call go on, as it is or with another value."
    ...

def deny(reason: str) -> Intercept:
    "An interceptor returns it to stop a call, or to drop its result. The model is told why its tool was denied; an agent whose model call is denied fails."
    ...

def substitute(value: Any) -> Intercept:
    "An interceptor returns it to put a result in place of the call's own."
    ...

def memory(name: str, *, scope: Literal["run", "session"] = ..., max_lines: int = ..., max_tokens: int = ..., shared: bool = ...) -> Memory:
    "Makes a place for notes: agent(memory = notes) offers the model memory_read, memory_write, memory_append and memory_search; functions that run call its methods."
    ...

def compress(*, after: int = ..., tokens: int = ..., keep: int = ..., how: Literal["window", "summary"] = ..., model: str = ..., history: Literal["shared", "fresh"] = ...) -> History:
    "Keeps a conversation short, for agent(history = ...). The system text and the agent's own input always stay, and a call of a tool is never parted from its result."
    ...

def conversation(node: Node, /, *, history: Literal["fresh", "shared", "summary"] | History = ...) -> Node:
    "Puts the agents of a flow into one conversation, except those with a history of their own. It is the flow itself, not another node."
    ...

def then(*nodes: Node | list[Node]) -> Node:
    "Runs nodes one after the other, each on the output of the one before. X→Y, Y→Z become X→Z. The operator is a >> b."
    ...

def par(*nodes: Node | list[Node], limit: int = ..., output: TypeLike = ..., on_error: Literal["raise", "keep", "drop"] = ..., merge: Node | Callable | TypeLike = ...) -> Node:
    "Runs nodes at once on the same input and returns the list of their outputs in order. Nodes X→Y become X→list[Y]. The operator is a / b. The first failure cancels the others, unless on_error says something else."
    ...

def forum(*nodes: Node | list[Node], rounds: int = ..., captain: Node = ..., consensus: int = ..., otherwise: Node = ...) -> Node:
    "Lets all nodes but the last discuss the first one's input; the last, the captain, reads the transcript and answers. The operator is a * b. With consensus there is no captain: the answer is what enough participants agree on in the last round."
    ...

def loop(node: Node, next: Callable | Node = ..., *, max: int = ..., until: Callable | Predicate = ..., repair: Node = ..., on_limit: Literal["fail", "last"] = ...) -> Node:
    "Repeats a node. After each turn next gets the output and returns the input of the following turn, or None to stop; the last output is the loop's. With until and repair, the loop ends when until holds, else repair makes the next input."
    ...

def branch(node: Node, routes: dict[Any, Node] | list[When], *, otherwise: Node = ..., output: TypeLike = ...) -> Node:
    "Routes a node's output to the first handler that takes it. Every variant must be handled, or there must be otherwise."
    ...

def when(predicate: Predicate | TypeLike | Callable, handler: Node) -> When:
    "A route of branch that is taken when a predicate holds."
    ...

def each(node: Node, *, limit: int = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> Node:
    "Runs a node on every item of a list and returns the outputs in order. X→Y becomes list[X]→list[Y]."
    ...

def fn(f: Callable, input: TypeLike = ..., output: TypeLike = ...) -> Node:
    "Makes a function a step. Types that are not declared are any and checked when they meet a declared one. fn(float) converts."
    ...

def pick(field: str, input: TypeLike = ...) -> Node:
    "Takes one field of what arrives. Its types follow the node before it, or input when a flow begins with it."
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
    "A condition: the value is another one."
    ...

@overload
def ne(field: str, value: Any = ..., /, *, fold: bool = ..., exact: bool = ...) -> Predicate:
    "A condition: the value is another one."
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
    "A condition: a field is there and not None. has(\"tags\", \"urgent\") holds when a list has that item, a text that part, a dict that key."
    ...

always: Predicate

never: Predicate

def graph(start: Node, edges: list[Edge], *, on_no_match: Literal["error", "finish"] | Node = ..., max_steps: int = ..., output: TypeLike = ...) -> Node:
    "Runs nodes along edges, with cycles and joins. It begins with start and ends at FINISH, or at a node that no edge leaves. Every node has its one place in the graph, and any number of edges."
    ...

def edge(source: Node, target: Node | Finish, *, when: Predicate | TypeLike | Callable | bool | str | None = ..., map: Node | Callable | TypeLike = ...) -> Edge:
    "An edge of graph."
    ...

FINISH: Finish

@overload
def fallback(*nodes: Node | list[Node], output: TypeLike = ...) -> Node:
    "Runs nodes on the same input, one after the other, until one succeeds. When all fail, the last error is reported, with notes of the others. Nodes X→Y become X→Y."
    ...

@overload
def fallback(calls: list[Callable | Node | tuple], /, *args: Any) -> Any:
    "Calls one after the other, with the same arguments, until one does not fail. When all fail, the last error is given, with notes of the others."
    ...

@overload
def race(*nodes: Node | list[Node], output: TypeLike = ...) -> Node:
    "Runs nodes on the same input at once. The first success wins, and the others are cancelled. When all fail, the error of the first node is reported, with notes of the others. Nodes X→Y become X→Y."
    ...

@overload
def race(calls: list[Callable | Node | tuple], /, *args: Any) -> Any:
    "Calls all at once, with the same arguments. The first that does not fail wins and the others are cancelled; a replay knows which one won."
    ...

@overload
def retry(node: Node, max: int = ..., *, until: Callable | Predicate = ..., on_limit: Literal["fail", "last"] = ..., feedback: Callable = ...) -> Node:
    "Runs a node again on the same input when it fails, and while its output is not what until asks for. What ends a run, its budget or a cancellation, is not tried again."
    ...

@overload
def retry(f: Callable | Node, /, *args: Any, max: int = ..., until: Callable | Predicate = ..., on_limit: Literal["fail", "last"] = ...) -> Any:
    "Calls again when a call fails that may be caught, and while until does not hold for what it returns."
    ...

def vote(*nodes: Node | list[Node], by: Literal["majority", "max"] = ..., weights: list[float] = ..., key: str | Callable = ..., judge: Node = ..., quorum: int = ..., output: TypeLike = ...) -> Node:
    "Runs nodes on the same input at once and returns one of their outputs: the most frequent, the one with the greatest key, or the one that a judge makes of all. Ties go to the first in the order written. Nodes X→Y become X→Y. One node that returns a list, such as par(...) or each(...), holds all voters."
    ...

def bounded(node: Node, budget: Budget) -> Node:
    "Bounds what a node uses each time that it runs, with all that goes on inside: around an each it is a budget of all branches together, inside of each branch. X→Y stays X→Y."
    ...

def wrap(teacher: Node, student: Node) -> Node:
    "Has a teacher write the system text of a student for each call. Both get the input: the teacher X→str, the student X→Y, which a model carries out. The result is X→Y. The student's own prompt is for calls without a teacher."
    ...

def handoff(node: Node, routes: dict[Any, Node] | list[When], *, otherwise: Node = ..., output: TypeLike = ...) -> Node:
    "Hands a node's output over to the first target whose key takes it: a branch whose event reports from whom, to whom and what. A target gets its typed input alone, no transcript of a forum."
    ...

@overload
def attempt(node: Node, /) -> Node:
    "Calls a function or a node in a run and returns its outcome: ok, value, error and status. While the file loads, attempt(node) is a node that does so: X→Y becomes X→Attempt[Y]. The run goes on after a failure of the call. It does not when the run is cancelled or out of time, when a limit of the whole run is reached, and after a panic."
    ...

@overload
def attempt(f: Callable | Node, /, *args: Any, **kwargs: Any) -> Attempt:
    "Calls a function or a node in a run and returns its outcome: ok, value, error and status. While the file loads, attempt(node) is a node that does so: X→Y becomes X→Attempt[Y]. The run goes on after a failure of the call. It does not when the run is cancelled or out of time, when a limit of the whole run is reached, and after a panic."
    ...

def parallel(f: Callable | Node | list, items: list = ..., /, *, limit: int = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> list:
    "Makes calls at once, in a function that runs, and returns their results in order. Each has its own branch; what enters a branch is frozen, and what leaves it is data. The first failure ends the others, unless on_error says otherwise."
    ...

def stream(items: list, /, *stages: Callable | Node, limit: int | list[int] = ..., on_error: Literal["raise", "keep", "drop"] = ...) -> list:
    "Sends items through stages, in a function that runs, and returns the results of the last stage in the order of the items. An item does not wait for the others: it enters a stage as soon as there is room. With on_error = \"raise\" a failing item ends the others."
    ...

def phase(name: str) -> None:
    "Reports to those who watch a run what it does next. It changes nothing else; positions stay as they are. It lasts until the next one at the same position."
    ...

def approve(question: str, data: Any = ...) -> Approval:
    "Asks a person in a function that runs, and returns the decision: approved (bool), reason, edited (bool) and data. The answer is recorded: a replay asks nobody."
    ...

def approval(question: str, input: TypeLike = ...) -> Node:
    "A step that a person has to approve: it passes on what arrives, or what the person puts in its place. Denied, it fails."
    ...

def wait(name: str, type: TypeLike = ...) -> any:
    "Waits, in a function that runs, for a value that somebody sends to the run by the name: agentscript runs answer RUN NAME --result JSON, or a host's Engine.Signal. Meanwhile the run is parked, and its process may end. The value is recorded."
    ...

def sleep(time: str | float) -> None:
    "Waits, in a function that runs, until a time has passed; other branches of the run go on. When it ends is recorded: a run that is resumed waits for what is left. In virtual time, as in tests, it takes no time."
    ...

def now(form: Literal["text", "unix"] = ...) -> str | float:
    "Returns, in a function that runs, what the time is. The answer is recorded: a replay returns the same. Virtual time, as in tests, begins at 1970-01-01T00:00:00.000Z."
    ...

def random(n: int = ...) -> float | int:
    "Returns a random number in a function that runs: a float from 0 up to and without 1, with n an int below n. It follows from the seed of the run and the place of the call, so that a run that is resumed or replayed draws the same. It is not secret: do not make keys of it."
    ...

def uuid() -> str:
    "Returns a new id in a function that runs, in the form of a random UUID. Like random, it follows from the seed of the run and the place of the call. It is not secret: do not make keys of it."
    ...

def load_flow(path: str, *, tools: dict[str, Tool | Callable] = ..., compat: Literal["koog"] = ..., max_steps: int = ..., name: str = ...) -> Node:
    "Reads a flow that is written as JSON and makes it a node like any other: str→what its last agent returns. Its agents share one conversation."
    ...
