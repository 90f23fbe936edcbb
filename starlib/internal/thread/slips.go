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

// slip is a mistake that the interpreter reports in its own words, with its remedy: an expansion of the match of
// expression.
type slip struct {
	says *regexp.Regexp
	help string
}

//go:embed slips.txt
var slipTable string

// slips are parsed when a script has failed, so that other scripts do not pay for it.
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

// longestSlip bounds the part of a message that is searched for a slip: a script can fail with a text of any length.
const longestSlip = 4 << 10

// SlipHelp returns the remedy for a message of the interpreter, or "".
func SlipHelp(msg string, own Own) string {
	msg = text.Cut(msg, longestSlip)
	for _, s := range slips() {
		if m := s.says.FindStringSubmatchIndex(msg); m != nil {
			return own.fill(string(s.says.ExpandString(nil, s.help, msg, m)))
		}
	}
	return ""
}

// Own returns a part of the failed expression as written in the script, see [source.File.ExprAt]. A nil Own means that
// the expression is unknown.
type Own func(part string) string

// blank matches the place in a remedy for the script's own expression, with its default if that is unknown: <left:s>.
var blank = lazy.Regexp(`<(left|right|op|of|arg|rest|key):([^>]*)>`)

func (own Own) fill(help string) string {
	if !strings.Contains(help, ":") {
		return help
	}
	asked := strings.Contains(help, " else ") // a literal is not tested for what it is
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

// Instead returns what to write instead of a method or field of other languages and libraries, or "". own provides the
// expression that has the value of the type, "of", and the argument of the call, "arg".
func Instead(typ, name string, own Own) string {
	typ, _, _ = strings.Cut(typ, "[") // as in list[str]
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

// Foreign returns the methods and fields of other languages and libraries, by type and name.
var Foreign = sync.OnceValue(func() map[string]map[string]string { return text.Synonyms(foreignTable) })
