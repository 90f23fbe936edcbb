package thread

import (
	"cmp"
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// slip is a mistake that the interpreter tells in its own words, and its remedy: an expansion
// of what the expression found.
type slip struct {
	says *regexp.Regexp
	help string
}

//go:embed slips.txt
var slipTable string

// slips are read when a script has failed, so that those that do not need not wait.
var slips = sync.OnceValue(func() []slip {
	var out []slip
	for line := range strings.Lines(slipTable) {
		line = strings.TrimSuffix(line, "\n")
		help, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented:
			out[len(out)-1].help = help
		case line != "" && line[0] != '#':
			out = append(out, slip{says: regexp.MustCompile(line)})
		}
	}
	return out
})

// longestSlip bounds the part of a message in which a slip is looked for: a script can fail with a text of any length.
const longestSlip = 4 << 10

// SlipHelp is the remedy for what the interpreter says, or "".
func SlipHelp(msg string, own Own) string {
	msg = text.Cut(msg, longestSlip)
	for _, s := range slips() {
		if m := s.says.FindStringSubmatchIndex(msg); m != nil {
			return own.fill(string(s.says.ExpandString(nil, s.help, msg, m)))
		}
	}
	return ""
}

// Own returns a part of the expression that went wrong as the script has it, see [source.File.ExprAt]; nil knows none.
type Own func(part string) string

// blank is where a remedy has the script's own expression, and what it has where that is not known: <left:s>.
var blank = lazy.Regexp(`<(left|right|op|of|arg|rest|key):([^>]*)>`)

func (own Own) fill(help string) string {
	if !strings.Contains(help, ":") {
		return help
	}
	asked := strings.Contains(help, " else ") // a literal is not asked what it is
	return blank().ReplaceAllStringFunc(help, func(hole string) string {
		part, usual, _ := strings.Cut(hole[1:len(hole)-1], ":")
		if own == nil {
			return usual
		}
		shown := own(part)
		if asked && strings.IndexAny(shown, "0123456789[({\"'") == 0 {
			shown = ""
		}
		return cmp.Or(shown, usual)
	})
}

//go:embed foreign.txt
var foreignTable string

// owners are the names that stand for a value of each type in the table of foreign methods.
var owners = map[string]string{"str": "s", "list": "xs", "dict": "d", "tuple": "t", "Completed": "out", "HTTPResponse": "p", "node": "a"}

// Instead says what to write instead of a method or field of other languages and libraries, or "".
// Own knows the expression that has a value of the type, "of", and the argument that it is called with, "arg".
func Instead(typ, name string, own Own) string {
	typ, _, _ = strings.Cut(typ, "[") // of list[str]
	meant, owner := Foreign()[typ][name], owners[typ]
	if meant == "" {
		return ""
	}
	if meant = own.fill(meant); owner == "" || own == nil {
		return "write " + meant
	}
	if of := own("of"); of != "" {
		meant = regexp.MustCompile(`(^|[^\w."])`+owner+`\b`).ReplaceAllString(meant, "${1}"+strings.ReplaceAll(of, "$", "$$"))
	}
	return "write " + meant
}

// Foreign are the methods and fields that other languages and libraries have, by type and name.
var Foreign = sync.OnceValue(func() map[string]map[string]string { return text.Synonyms(foreignTable) })
