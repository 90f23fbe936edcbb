package setup

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// GrantFlags set what a script may touch.
type GrantFlags struct {
	exec, Net, fs, Env []string
	Proxy              string
}

func (f *GrantFlags) AddTo(set *pflag.FlagSet) {
	set.StringArrayVar(&f.exec, "allow-exec", nil, "let the script run this `CMD`, with sh.run or as an MCP server; repeatable")
	set.StringArrayVar(&f.Net, "allow-net", nil, "let the script make requests to this `HOST[:PORT]`, address or range; *.example.com matches all hosts below it; repeatable")
	set.StringArrayVar(&f.fs, "allow-fs", nil, "let the script read in this `DIR[:ro|rw]`, with :rw also write; repeatable")
	set.StringArrayVar(&f.Env, "allow-env", nil, "let the script and its commands read this environment variable, `NAME[:plain|secret]`; LC_* matches every name that begins with LC_; a secret is hidden in output, unless a granted command reverses, cuts or dumps it; repeatable")
	set.StringVar(&f.Proxy, "net-proxy", "", "send the requests of the script through the proxy at this `URL`")
}

// With returns the grants before FILE together with those after it.
func (f *GrantFlags) With(more *GrantFlags) *GrantFlags {
	return &GrantFlags{exec: slices.Concat(f.exec, more.exec), Net: slices.Concat(f.Net, more.Net),
		fs: slices.Concat(f.fs, more.fs), Env: slices.Concat(f.Env, more.Env), Proxy: cmp.Or(more.Proxy, f.Proxy)}
}

func (f *GrantFlags) Same(g *GrantFlags) bool {
	return slices.Equal(f.exec, g.exec) && slices.Equal(f.Net, g.Net) && slices.Equal(f.fs, g.fs) && slices.Equal(f.Env, g.Env) && f.Proxy == g.Proxy
}

// Any reports whether anything is granted.
func (f *GrantFlags) Any() bool { return len(f.exec)+len(f.Net)+len(f.fs)+len(f.Env) > 0 }

// DirOf returns the directory of an --allow-fs.
func DirOf(dir string) string { return strings.TrimSuffix(strings.TrimSuffix(dir, ":rw"), ":ro") }

// modeWords are words for modes in other programs.
var modeWords = []string{"r", "w", "wr", "wo", "x", "rx", "rwx", "read", "write", "readonly", "read-only", "readwrite", "read-write"}

// wrongMode returns what follows the name of a directory in place of a mode: any word after an existing directory, and
// otherwise a word that could only be meant as a mode. It returns "" if there is none.
func wrongMode(dir string) string {
	i := strings.LastIndexByte(dir, ':')
	if i <= 0 || strings.ContainsAny(dir[i:], `/\`) {
		return ""
	}
	if _, err := os.Stat(dir); err == nil {
		return "" // a name may contain a colon
	}
	if info, err := os.Stat(dir[:i]); (err != nil || !info.IsDir()) && !slices.Contains(modeWords, strings.ToLower(dir[i+1:])) {
		return ""
	}
	return dir[i+1:]
}

// Open opens what is granted. The command closes it when it is done.
func (f *GrantFlags) Open(c *term.Console) (g *grant.Grants, option agentscript.Option, problem *term.Failure) {
	if f.Same(&GrantFlags{}) {
		return nil, nil, nil
	}
	options := []grant.Option{grant.LookupEnv(c.LookupEnv), grant.Exec(f.exec...), grant.Net(f.Net...), grant.Env(f.Env...)}
	for _, dir := range f.fs {
		access, name := grant.ReadOnly, DirOf(dir)
		if strings.HasSuffix(dir, ":rw") {
			access = grant.ReadWrite
		}
		if mode := wrongMode(name); mode != "" && access == grant.ReadOnly {
			return nil, nil, term.Usagef("the mode is ro or rw: --allow-fs "+strings.TrimSuffix(name, mode)+"rw", "--allow-fs %q: there is no mode %q", dir, mode)
		}
		if name == "" {
			return nil, nil, term.Usagef("name a directory: --allow-fs notes:rw", "--allow-fs %q names no directory", dir)
		}
		options = append(options, grant.FS(name, access))
	}
	if f.Proxy != "" {
		options = append(options, grant.Proxy(f.Proxy))
	}
	g, err := grant.New(options...)
	if err != nil {
		return nil, nil, &term.Failure{Code: term.ExitUsage, Found: diag.List{term.Diagnose(err)}}
	}
	var open diag.List
	for _, w := range g.Warnings() {
		open = append(open, &diag.Diagnostic{Severity: diag.Warning, Message: w})
	}
	c.Report(open, nil)
	return g, agentscript.WithGrants(g), nil
}

// HideGranted hides the secrets that --allow-env granted to a run in another process, as far as this process has them.
func HideGranted(c *term.Console, names []string) {
	if g, err := grant.New(grant.LookupEnv(c.LookupEnv), grant.Env(names...)); err == nil {
		c.Hide("what is granted", g.Redact) // it has opened nothing
	}
}
