package project

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Unknown finds the rules of the project that can never apply. A rule about a tool that a script does not have may be
// meant for another script of the project, so it searches the texts of the scripts, and loads none. It is a mistake if
// no script of the project has the tool, or the argument. If another script has a tool of that name with the argument,
// and this one has it without, the rule does not apply here, which is a warning.
//
// file is the script, or "" for none; tools and servers are those of its agents.
func (s *Settings) Unknown(file string, tools []policy.Call, servers []string) (warnings diag.List, mistakes *term.Failure) {
	p := s.Policy()
	if p == nil {
		return nil, nil
	}
	var wrong diag.List
	var all *scripts
	for u := range p.Unknown(tools) {
		if u.Served(servers) {
			continue
		}
		if all == nil {
			all = scriptsOf(filepath.Dir(s.Path), file)
		}
		d := &diag.Diagnostic{Code: diag.UnknownRule, Span: u.At}
		has := all.has(&u)
		d.Message, d.Help = u.Message("the project"), []string{u.Help(tools)}
		if u.Arg == "" && u.Near == "" {
			d.Help = []string{"name a tool that one of its scripts has"}
		}
		switch {
		case has && u.Arg == "":
		case has:
			d.Severity, d.Help = diag.Warning, []string{"it is for another script of the project: write a rule for this tool too"}
			warnings.Add(d)
		case all.more:
			d.Severity, d.Help = diag.Warning, []string{fmt.Sprintf("below %s is too much to look for its scripts: move the project file nearer to them", all.dir)}
			warnings.Add(d)
		default:
			wrong.Add(d)
		}
	}
	return warnings, term.FailureOf(term.ExitUsage, wrong, s.Sources())
}

// Sources returns the text of the project file.
func (s *Settings) Sources() diag.Sources {
	if s == nil {
		return nil
	}
	return diag.SourceMap{s.Path: s.file.text}
}

// scripts holds the texts of the scripts of a project.
type scripts struct {
	dir   string
	all   []script
	names []string // names of functions, most of which are tools
	more  bool     // there are more than were read
}

// script is the text of a script without comment lines, and the words in it.
type script struct {
	text  string
	words map[string]bool
}

// The bounds beyond which a project is not searched as a whole.
const (
	mostEntries = 20_000
	longestText = 1 << 20
)

// scriptsOf reads the scripts below a directory, except one of them and tests. It skips links, directories whose names
// begin with a dot, and those of other projects and repositories.
func scriptsOf(dir, but string) *scripts {
	s := &scripts{dir: dir}
	own, _ := os.Stat(but)
	entries := 0
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if entries++; entries > mostEntries {
			s.more = true
			return fs.SkipAll
		}
		switch {
		case err != nil: // an unreadable directory has no scripts
		case d.IsDir() && at != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || holds(at, FileName) || holds(at, ".git")):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(at, ".star") && !strings.HasSuffix(at, "_test.star"):
			info, err := d.Info()
			if err != nil || os.SameFile(info, own) || info.Size() > longestText {
				return nil
			}
			if text, err := os.ReadFile(at); err == nil {
				s.add(string(text))
			}
		}
		return nil
	})
	return s
}

func holds(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func (s *scripts) add(text string) {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			kept.WriteString(line)
		}
	}
	one := script{kept.String(), map[string]bool{}}
	before := ""
	for word := range strings.FieldsFuncSeq(one.text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if before == "def" {
			s.names = append(s.names, word)
		}
		one.words[word], before = true, word
	}
	s.all = append(s.all, one)
}

// mentions reports whether a name occurs in the text of a script.
func (s script) mentions(name string) bool {
	return s.words[name] || strings.ContainsAny(name, "-. ") && strings.Contains(s.text, name)
}

// served reports whether a script makes MCP servers, whose tools are not in its text.
func (s script) served() bool { return s.words["mcp"] }

// has reports whether a script may have the subject of a pattern: it mentions the tool, and the arguments that the
// pattern tests. If none does, has sets in u the missing argument and what was probably meant.
func (s *scripts) has(u *policy.Unknown) bool {
	var missing, near string
	for _, one := range s.all {
		server, _, dotted := strings.Cut(u.Name, ".")
		if one.served() && dotted && one.mentions(server) {
			return true
		}
		if !one.mentions(u.Name) {
			continue
		}
		i := slices.IndexFunc(u.Asks, func(arg string) bool { return arg != "*" && !one.mentions(arg) })
		if i < 0 || one.served() {
			return true
		}
		if missing == "" {
			missing = u.Asks[i]
			near, _ = diag.Suggest(missing, slices.Collect(maps.Keys(one.words)))
		}
	}
	switch {
	case u.Arg != "":
		return false
	case missing != "":
		u.Arg, u.Near = missing, near
		return false
	case u.Near == "":
		u.Near, _ = diag.Suggest(u.Name, s.names)
	}
	return u.Near == "" && !strings.Contains(u.Name, ".") && slices.ContainsFunc(s.all, script.served)
}
