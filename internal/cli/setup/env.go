package setup

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
)

// HideKeys hides keys before any flag is parsed, since the error about a flag may show one: the keys of the
// environment, and of each file that an --env-file among the arguments names.
func HideKeys(c *term.Console) {
	hide(c, "", llm.SecretsFunc(c.LookupEnv))
	for i, arg := range c.Args {
		flag, path, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return
		case strings.ReplaceAll(flag, "_", "-") != "--env-file":
			continue
		case !joined && i+1 < len(c.Args):
			path = c.Args[i+1]
		}
		_, _ = Secrets(c, path) // the parsing of the flag reports what is wrong with its file
	}
}

// hide hides the keys that secrets hold. They are looked up when something is written.
func hide(c *term.Console, place string, secrets llm.Secrets) {
	keys := sync.OnceValue(func() *llm.Registry { return llm.New(llm.WithSecrets(secrets)) })
	c.Hide(place, func(text string) string { return keys().Redact(text) })
}

// Secrets looks up keys in the file of --env-file, then in the environment. The file is read only for providers and
// does not become part of the process's environment. Its keys are hidden from then on.
func Secrets(c *term.Console, path string) (llm.Secrets, *term.Failure) {
	if path == "" {
		return llm.SecretsFunc(c.LookupEnv), nil
	}
	data, err := readEnv(c, path)
	if err != nil {
		return nil, term.Usagef("", "--env-file %s: %s", path, term.FileProblem(err))
	}
	vars, found := parseEnv(path, data)
	secrets := llm.SecretsFunc(func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		return c.LookupEnv(name)
	})
	hide(c, path, secrets)
	if len(found) > 0 {
		// There is no source: a line of this file must not be shown.
		return nil, &term.Failure{Code: term.ExitUsage, Found: found}
	}
	return secrets, nil
}

// readEnv reads a file of --env-file. It keeps the text of what can only be read once, such as a pipe.
func readEnv(c *term.Console, path string) (string, error) {
	if text, ok := c.ReadOnce[path]; ok {
		return text, nil
	}
	data, err := os.ReadFile(path)
	if info, wrong := os.Stat(path); err == nil && wrong == nil && !info.Mode().IsRegular() {
		if c.ReadOnce == nil {
			c.ReadOnce = map[string]string{}
		}
		c.ReadOnce[path] = string(data)
	}
	return string(data), err
}

// parseEnv reads NAME=VALUE lines. A line may begin with "export"; empty lines and lines that begin with # are ignored.
// A value may be in single quotes, where everything is literal, or in double quotes, where \n \t \" \\ \$ are escapes;
// without quotes it ends at " #" or at the end of the line. Messages never show values.
func parseEnv(file, text string) (map[string]string, diag.List) {
	vars := map[string]string{}
	var found diag.List
	wrong := func(line int, help, format string, args ...any) {
		d := &diag.Diagnostic{Message: fmt.Sprintf(format, args...), Span: diag.Span{Pos: diag.Pos{File: file, Line: line}}}
		if help != "" {
			d.Help = []string{help}
		}
		found.Add(d)
	}
	if !utf8.ValidString(text) {
		wrong(0, "", "the file is not UTF-8 text")
		return nil, found
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export"); ok && rest != strings.TrimLeft(rest, " \t") {
			line = strings.TrimSpace(rest)
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		switch value, problem := envValue(strings.TrimSpace(value)); {
		case !ok:
			wrong(n, "write NAME=VALUE; a comment begins with #", "this line has no =")
		case !envName().MatchString(name):
			wrong(n, "a name has letters, digits and _, and does not begin with a digit", "what comes before = is not a name")
		case problem != "":
			wrong(n, "a value ends on its line, quoted 'verbatim' or \"with \\n for a line end\"", "the value of %s %s", name, problem)
		default:
			vars[name] = value
		}
	}
	return vars, found
}

// envName matches the names of variables.
var envName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// quoted matches a value in quotes, and what follows it.
var quoted = lazy.Regexp(`^(?:'([^']*)'|"((?:[^"\\]|\\.)*)")(.*)$`)

// escapes are the escapes in double quotes.
var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`, `$`)

// envValue removes quotes, escapes and a comment from a value.
func envValue(s string) (value, problem string) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		s, _, _ = strings.Cut(" "+s, " #")
		return strings.TrimSpace(s), ""
	}
	parts := quoted().FindStringSubmatch(s)
	if parts == nil {
		return "", "has no closing quote"
	}
	if rest := strings.TrimSpace(parts[3]); rest != "" && rest[0] != '#' {
		return "", "continues after its closing quote"
	}
	return parts[1] + escapes.Replace(parts[2]), ""
}
