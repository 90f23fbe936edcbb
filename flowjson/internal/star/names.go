package star

import (
	"strconv"
	"strings"
	"unicode"
)

// reserved are the keywords of the language, and the names that every script has.
const reserved = `and as assert async await break class continue def del elif else except finally for from global if import in is lambda load
	nonlocal not or pass raise return try while with yield
	None True False abs all any bool bytes chr dict dir enumerate fail float getattr hasattr hash int len list max min ord print range repr
	reversed set sorted str tuple type zip sum
	Attempt Audio Critique FINISH Failure Image ToolFailure again agent always approval approve as_tool attempt bounded branch budget compress
	conversation dedent deny describe each edge enum env eq escalate fallback field file fix fixed fmt fn forum fs ge give_up graph gt handoff has
	help hooks http image indent_lines isinstance join_lines json knowledge le load_flow loop lt match matches mcp memory model ne never now oauth
	par parallel phase pick policy proceed race random recover ref replace retry router schema secret sh skill sleep split_lines stream strip_fences
	substitute template then tool truncate type_from_json_schema typeof union uuid verify vote wait when wrap
	flow main input results value unchanged of t`

// names are the variables of a script: all are different, and none hides a name of the language.
type names struct {
	taken map[string]bool
	last  map[string]int // the last number appended to a name
}

func newNames() names {
	n := names{map[string]bool{}, map[string]int{}}
	for word := range strings.FieldsSeq(reserved) {
		n.taken[word] = true
	}
	return n
}

// of returns a variable for a name: the name itself if possible, otherwise a similar one. kind is added to a name that
// the language has, or that cannot begin a variable.
func (n names) of(name, kind string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	like := strings.TrimRight(b.String(), "_")
	if b.String() == name {
		like = name
	}
	switch {
	case like == "" || strings.Trim(like, "_") == "":
		like = kind
	case '0' <= like[0] && like[0] <= '9':
		like = kind + "_" + like
	}
	if n.taken[like] && n.last[like] == 0 && !strings.HasSuffix(like, kind) {
		like += "_" + kind
	}
	own := like
	for n.taken[own] {
		n.last[like] = max(n.last[like], 1) + 1
		own = like + "_" + strconv.Itoa(n.last[like])
	}
	n.taken[own] = true
	return own
}

// fits reports whether an agent or a tool can have a name: names are part of positions, as in a/b#1[2].
func fits(name string) bool {
	return strings.TrimSpace(name) != "" && strings.IndexFunc(name, func(r rune) bool { return strings.ContainsRune("/#[]", r) || unicode.IsControl(r) }) < 0
}
