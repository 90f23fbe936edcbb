package data

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// DefaultTouchTimeout bounds one operation of a capability that sets no other timeout.
const DefaultTouchTimeout = 30 * time.Second

var (
	secretTextKind = &table.Kind{Word: "str or env.secret(...)", Stub: "str | Secret", Accept: value.Either(value.As[starlark.String], value.As[*value.Masked], value.As[*value.Secret])}
	timeoutParam   = table.Opt("timeout", table.TimeUpTo(24*time.Hour, "a day"), `"30s"`, `the time limit: "90s", "2m", or seconds`)
)

// commandKind takes a command and its arguments. No shell splits a command line.
var commandKind = table.Hinted(table.ListOf(table.StrKind), func(v starlark.Value) string {
	line, ok := v.(starlark.String)
	switch {
	case !ok:
		return ""
	case strings.TrimSpace(string(line)) == "":
		return `name the command and its arguments: ["git", "log"]`
	case strings.ContainsAny(string(line), "|<>&;$`"):
		return `no shell reads it: run one command, ["ls", "-la"], and pass its output to the next, sh.run(["wc", "-l"], input = out.stdout)`
	}
	return "write " + script.QuotedList(strings.Fields(string(line)))
})

func capabilityRows() []table.Builtin {
	path := table.Param{Name: "path", Kind: table.StrKind, Doc: "the path, absolute or relative to the working directory, with / as separator; inside a granted directory"}
	url := table.Param{Name: "url", Kind: secretTextKind, Doc: "an http or https URL, without user name and password"}
	headers := table.Opt("headers", table.DictKind, "{}", "the headers by name; a value is a str or env.secret(...)")
	body := table.Opt("body", secretTextKind, "None", "the body of the request")
	data := table.Opt("json", table.AnyKind, "(none)", "data to send as JSON, instead of body")
	module := func(name, doc string) table.Builtin {
		row := table.ModuleRow(name, table.GroupWorld, table.Granted, doc)
		row.May = true
		return row
	}
	row := func(of, name, returns, doc string, params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Of: of, Group: table.GroupWorld, Returns: returns, Effect: table.Granted, RunOnly: touchExamples[of], Whole: true, Doc: doc, Func: touchFunc,
			Params: append(params, timeoutParam)}
	}
	optional := func(p table.Param, otherwise string) table.Param {
		p.Default = otherwise
		return p
	}
	return []table.Builtin{
		module("sh", "Runs commands granted by --allow-exec, without a shell: sh.run."),
		row("sh", "run", "Completed", "Runs a command and returns its exit code and output. The command sees only PATH and the granted variables of the host's environment. It is killed, with everything that it started, when its time is up and when the run ends.",
			table.Param{Name: "command", Kind: commandKind, Doc: "the command and its arguments, each passed verbatim: [\"git\", \"log\"]"},
			table.Opt("input", secretTextKind, "None", "the text for its standard input"),
			table.Opt("dir", table.StrKind, "None", "where it runs: by default the working directory, else a granted directory or one inside it")),
		module("http", "Makes requests to hosts granted by --allow-net: http.get, http.post, http.request."),
		row("http", "get", "HTTPResponse", "Fetches a URL. A status such as 404 is not a failure.", url, headers),
		row("http", "post", "HTTPResponse", "Sends a POST request to a URL.", url, body, data, headers),
		row("http", "request", "HTTPResponse", "Makes a request with any method.", table.Param{Name: "method", Kind: table.StrKind, Doc: "GET, PUT, DELETE, ..."}, url, body, data, headers),
		module("fs", "Reads and writes files in directories granted by --allow-fs: fs.read, fs.write, fs.list, fs.exists, fs.stat, fs.remove."),
		row("fs", "read", "str", "Returns the text of a file.", path,
			table.Opt("limit", table.LeastKind(1, diag.WrongArgument), "None", "read at most this many bytes; without it, a file of more than 1 MiB is an error")),
		row("fs", "write", "None", "Writes a file as a whole: the file has either the new text or the old one, never a part. Missing directories are created.", path,
			table.Param{Name: "text", Kind: table.StrKind, Doc: "the new text of the file"}),
		row("fs", "list", "list[str]", "Lists the content of a directory, sorted. The name of a directory ends with /.", optional(path, `"."`),
			table.Opt("pattern", table.StrKind, "None", "list instead the paths inside it that match: *.md, or **/*.md at any depth")),
		row("fs", "exists", "bool", "Reports whether a path exists.", path),
		row("fs", "stat", "FileStat", "Returns information about a path: path, kind (file, dir or other), size and modified.", path),
		row("fs", "remove", "None", "Removes a file or an empty directory. A path that does not exist is not a failure.", path),
		module("env", "Reads environment variables granted by --allow-env: env.get, env.secret."),
		row("env", "get", "str", "Returns the value of a variable, or the default if it is not set. The value is recorded. Use env.secret for a variable whose name indicates a secret.",
			table.Param{Name: "name", Kind: table.StrKind, Doc: "the name of the variable"},
			table.Param{Name: "default", Kind: table.AnyKind, Default: "None", Doc: "returned if the variable is not set"}),
		row("env", "secret", "Secret", "Returns the value of a variable in a form that is never shown, recorded or sent to a model, and that can be used in a request: \"Bearer \" + env.secret(\"API_TOKEN\"). A variable that is not set is an error.",
			table.Param{Name: "name", Kind: table.StrKind, Doc: "the name of the variable"}),
	}
}

// wrappers show, for each capability, a function that makes a tool of it. The function determines what the model gets.
var wrappers = map[string]string{"fs.read": "def read(path = str): return fs.read(path)", "fs.list": "def list_notes(dir = str): return fs.list(dir)",
	"fs.write": "def save(path = str, text = str): fs.write(path, text)", "http.get": "def page(url = str): return http.get(url).text",
	"sh.run": "def log(file = str): return sh.run([\"git\", \"log\", file]).stdout"}

// HintCapability says how to make a tool of a builtin.
func HintCapability(b *starlark.Builtin) string {
	if example := wrappers[b.Name()]; example != "" {
		return "wrap it in a function, which decides what the model gets: " + example
	}
	return "wrap it in a function that declares its parameters: def f(x = str): return " + b.Name() + "(x)"
}

// touchFunc performs the operation that its row names.
func touchFunc(c *table.Call) (starlark.Value, error) {
	args, err := touchArgs(c)
	if err != nil || len(c.Problems) > 0 {
		return nil, err
	}
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	v, err := touch(c.Env.Branch, c.Row.QualifiedName(), args)
	if err != nil {
		return nil, err
	}
	switch c.Row.QualifiedName() {
	case "env.secret":
		return value.MaskedOf(v, c.Str("name"))
	case "env.get":
		if v.IsNull() && c.Has("default") {
			return c.Arg("default"), nil
		}
	}
	return value.FromData(v), nil
}

var touchExamples = map[string]string{"sh": `out = sh.run(["git", "log"])`, "http": `page = http.get("https://example.com/")`, "fs": `text = fs.read("notes.md")`, "env": `home = env.get("HOME")`}

// touch performs an operation as an effect. It checks the arguments first, so that no request with a mistake, or with a
// password in it, becomes an event.
func touch(b engine.Branch, name string, args *generable.Map) (generable.Value, error) {
	op, _ := capability.Lookup(name)
	if wrong := unfitTouch(op, args); wrong != nil {
		return generable.Value{}, wrong
	}
	text := func(arg string) string {
		v, _ := args.Get(arg)
		s, _ := v.AsStr()
		return s
	}
	called, class := op.Name, op.Class
	switch op.Kind {
	case engine.EffectExec:
		u := (&capability.Request{Op: op.Name, Args: args}).Use(op.Kind)
		called = u.Target
	case engine.EffectHTTP:
		called = strings.ToUpper(op.Name)
		if op.Name == "request" {
			called = strings.ToUpper(text("method"))
		}
		class = capability.HTTPClass(called)
	case engine.EffectEnv:
		called = text("name")
	}
	return run.Touch(b, op, called, class, args)
}

// unfitTouch returns what is wrong with the arguments of an operation, or nil.
func unfitTouch(op *capability.Operation, args *generable.Map) error {
	get := func(name string) generable.Value { v, _ := args.Get(name); return v }
	switch op.Kind {
	case engine.EffectExec:
		if list, _ := get("command").AsList(); list.Len() == 0 || (&capability.Request{Op: op.Name, Args: args}).Use(op.Kind).Target == "" {
			return script.Errorf(diag.WrongArgument, "sh.run: the command is empty").WithHelp(`name the command first: sh.run(["git", "log"])`)
		}
	case engine.EffectHTTP:
		return unfitRequest(op, args)
	case engine.EffectFS:
		if s, _ := get("path").AsStr(); s == "" || strings.ContainsRune(s, 0) {
			return script.Errorf(diag.WrongArgument, "fs.%s: the path is empty or holds a NUL byte", op.Name).WithHelp(`the working directory is "."`)
		}
	case engine.EffectEnv:
		name, _ := get("name").AsStr()
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return script.Errorf(diag.WrongArgument, "env.%s: %q cannot name a variable", op.Name, name).WithHelp(`env.get("HOME")`)
		}
	}
	return nil
}

func unfitRequest(op *capability.Operation, args *generable.Map) error {
	what := "http." + op.Name
	if _, both := args.Get("json"); both {
		if _, body := args.Get("body"); body {
			return script.Errorf(diag.WrongArgument, "%s gets both body and json", what).WithHelp("pass one of them: json = data sends data as JSON")
		}
	}
	if m, given := args.Get("method"); given {
		s, _ := m.AsStr()
		if s == "" || strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' }) >= 0 {
			return script.Errorf(diag.WrongArgument, "%s: %q is not a method", what, s).WithHelp("GET, PUT, DELETE and the like")
		}
	}
	url, _ := args.Get("url")
	text, ok := url.AsStr()
	if !ok {
		if capability.HostOfText(url) == "" {
			return script.Errorf(diag.WrongArgument, "%s: the URL does not begin with http:// or https://, a host and /", what).
				WithHelp("a secret belongs after the host: \"https://api.example.com/?key=\" + env.secret(\"API_KEY\")")
		}
		return nil
	}
	if _, err := capability.Host(text); err != nil {
		return script.Errorf(diag.WrongArgument, "%s: the URL is wrong: %s", what, err).
			WithHelp("write http:// or https:// and a host; a name and password go into headers: {\"Authorization\": env.secret(\"API_AUTH\")}")
	}
	return nil
}

// touchArgs returns the arguments of the effect, in the order of the row.
func touchArgs(c *table.Call) (*generable.Map, error) {
	args := generable.NewMap(len(c.Row.Params))
	for i, p := range c.Row.Params {
		given := c.Refs[i].Given()
		v := c.Values[i]
		if !given && p.Name == "path" { // fs.list only
			v = starlark.String(".")
		}
		switch {
		case p.Name == "timeout":
			args.Set("timeout", seconds(c))
			continue
		case p.Name == "default":
			continue
		case v == nil && !(given && p.Name == "json"):
			continue
		case v == nil:
			v = starlark.None
		}
		out, err := touchArg(v)
		if err != nil {
			return nil, value.Prefixed(p.Name+" of "+c.Row.QualifiedName(), err)
		}
		args.Set(p.Name, out)
	}
	return args, nil
}

// seconds returns the timeout in seconds.
func seconds(c *table.Call) generable.Value {
	v, _ := generable.FloatOf(cmp.Or(c.Duration("timeout"), DefaultTouchTimeout).Seconds())
	return v
}

// masked reports whether a value stands for a secret.
func masked(v starlark.Value) bool {
	switch v.(type) {
	case *value.Masked, *value.Secret:
		return true
	}
	return false
}

// touchArg returns an argument as data, with secrets replaced by their names.
func touchArg(v starlark.Value) (generable.Value, error) {
	switch v := v.(type) {
	case *value.Masked:
		return v.Data(), nil
	case *value.Secret: // a secret of the host, as MCP servers get it
		return (&value.Masked{Parts: []value.MaskedPart{{Text: v.Prefix}, {Env: v.Name}}}).Data(), nil
	case *starlark.Dict:
		if !slices.ContainsFunc(v.Items(), func(kv starlark.Tuple) bool { return masked(kv[1]) }) {
			break
		}
		m := generable.NewMap(v.Len())
		for key, item := range v.Entries() {
			name, ok := key.(starlark.String)
			if !ok {
				return generable.Value{}, script.Errorf(diag.WrongArgument, "the names are str, got %s", value.Describe(key))
			}
			out, err := touchArg(item)
			if err != nil {
				return generable.Value{}, err
			}
			m.Set(string(name), out)
		}
		return m.Value(), nil
	}
	return value.ToData(v)
}
