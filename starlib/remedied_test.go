package starlib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// A golden is a script of testdata/errors with its findings.
type golden struct {
	name, main string
	more       []string
	options    starlib.Options
	found      diag.List
}

func (g *golden) load(main string, more []string, o starlib.Options) diag.List {
	m, found := loadWith(o, main, more...)
	if _, d := m.Main(); d != nil && strings.Contains(g.main[:strings.IndexByte(g.main, '\n')], string(diag.NoMain)) && !strings.Contains(codes(found), string(diag.NoMain)) {
		found = append(found, d)
	}
	return found
}

func goldens(t *testing.T) []*golden {
	files, err := filepath.Glob("testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	var all []*golden
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := &golden{name: strings.TrimSuffix(filepath.Base(file), ".star"), options: starlib.Options{Strict: strings.Contains(file, "strict"), Ungranted: strings.Contains(file, "ungranted")}}
		g.main, g.more = parts(string(data))
		g.found = g.load(g.main, g.more, g.options)
		all = append(all, g)
	}
	return all
}

// Promise 26.20 (sound): for every golden diagnostic, following its help leaves no new error at that place.
//
// For help that a machine cannot apply, testdata/remedies holds, by script and place, what a person who follows it
// would write. A row with neither fails.
func TestPromise_26_20_RemediesWork(t *testing.T) {
	rows, byHand := 0, 0
	for _, g := range goldens(t) {
		hand := readRemedies(t, g.name)
		for i, d := range g.found {
			rows++
			key := g.key(i)
			if testing.Short() && rows%4 != 0 {
				delete(hand, key)
				continue
			}
			if edits, ok := hand[key]; ok {
				byHand++
				delete(hand, key)
				main, more, o := g.edited(t, key, edits)
				if wrong := g.mended(d, main, more, o); wrong != "" {
					t.Errorf("%s %s: %s\nsays %q; by hand it becomes\n%s\n%s", g.name, key, d.Message, d.Help, g.changed(main), wrong)
				}
				continue
			}
			if wrong := g.byMachine(d); wrong != "" {
				t.Errorf("%s %s: %s\nsays %q, fixes %v\n%s\nWhere only a person can follow the help, write into testdata/remedies/%s.txt\n%s| old text => new text", g.name, key, d.Message, d.Help, d.Fixes, wrong, g.name, key)
			}
		}
		for key := range hand {
			t.Errorf("testdata/remedies/%s.txt: there is no row %s", g.name, key)
		}
	}
	t.Logf("%d rows, %d of them by hand", rows, byHand)
	if rows < 800 {
		t.Errorf("only %d rows", rows)
	}
}

// key identifies a row of a script: its line and column, its code, and its number among several with the same.
func (g *golden) key(i int) string {
	shown := func(d *diag.Diagnostic) string {
		at := fmt.Sprintf("%d:%d %s", d.Span.Line, d.Span.Col, d.Code)
		if d.Span.File != "main.star" {
			at = d.Span.File + ":" + at
		}
		return at
	}
	key, n := shown(g.found[i]), 1
	for _, d := range g.found[:i] {
		if shown(d) == key {
			n++
		}
	}
	if n > 1 {
		key += " " + strconv.Itoa(n)
	}
	return key
}

// An edit replaces the first occurrence of a text in a line of a file; "" is at the beginning of the line.
type edit struct {
	file     string // "" means the script itself
	line     int
	old, new string
}

// row matches what testdata/remedies declares that a person does about a row: its key, and edits separated by ";;".
// Each is "old => new", in the line of the row unless it begins with "@LINE " or "@FILE:LINE ", with \n for a line end;
// or it is "grant", for what is granted.
var row = regexp.MustCompile(`^((?:\S+:)?(\d+):\d+ AS\d+(?: \d+)?)\| (.+)$`)

var place = regexp.MustCompile(`^@(?:(\S+):)?(\d+) `)

// readRemedies reads what a person does about rows, by key.
func readRemedies(t *testing.T, name string) map[string][]edit {
	out := map[string][]edit{}
	text, err := os.ReadFile("testdata/remedies/" + name + ".txt")
	if os.IsNotExist(err) {
		return out
	} else if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		m := row.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("testdata/remedies/%s.txt: %q is no row", name, line)
		}
		for one := range strings.SplitSeq(m[3], " ;; ") {
			var e edit
			e.line, _ = strconv.Atoi(m[2])
			if p := place.FindStringSubmatch(one); p != nil {
				one = one[len(p[0]):]
				e.file = p[1]
				e.line, _ = strconv.Atoi(p[2])
			}
			before, after, ok := strings.Cut(one, "=>")
			if !ok && one != "grant" {
				t.Fatalf("testdata/remedies/%s.txt: %q has no edit", name, line)
			}
			e.old, e.new = strings.TrimSuffix(before, " "), strings.ReplaceAll(strings.TrimPrefix(after, " "), `\n`, "\n")
			if one == "grant" {
				e.line = 0
			}
			out[m[1]] = append(out[m[1]], e)
		}
	}
	return out
}

// edited applies the edits of a row.
func (g *golden) edited(t *testing.T, key string, edits []edit) (main string, more []string, o starlib.Options) {
	main, more, o = g.main, slices.Clone(g.more), g.options
	texts := map[string]*string{"": &main}
	for i := 0; i+1 < len(more); i += 2 {
		texts[more[i]] = &more[i+1]
	}
	lines := map[string][]string{}
	for _, e := range edits {
		if e.line == 0 {
			o.Ungranted = false
			continue
		}
		if texts[e.file] == nil {
			t.Fatalf("%s %s: there is no file %s", g.name, key, e.file)
		}
		if lines[e.file] == nil {
			lines[e.file] = strings.Split(*texts[e.file], "\n")
		}
		at := &lines[e.file][e.line-1]
		if !strings.Contains(*at, e.old) {
			t.Errorf("%s %s: line %d has no %q", g.name, key, e.line, e.old)
		}
		*at = strings.Replace(*at, e.old, e.new, 1)
	}
	for name, l := range lines {
		*texts[name] = strings.Join(l, "\n")
	}
	return main, more, o
}

// mended reports what is wrong with a script after the remedy for one of its rows was applied: the row is still there,
// or a changed line has a new error.
func (g *golden) mended(d *diag.Diagnostic, main string, more []string, o starlib.Options) string {
	if main == g.main && slices.Equal(more, g.more) && o.Ungranted == g.options.Ungranted {
		return "nothing is changed"
	}
	before := map[string]int{}
	for _, f := range g.found {
		before[said(f)]++
	}
	was := map[string]bool{}
	for line := range strings.SplitSeq(g.main, "\n") {
		was[line] = true
	}
	lines := strings.Split(main, "\n")
	left := 0
	for _, f := range g.load(main, more, o) {
		id := said(f)
		if id == said(d) {
			left++
		}
		if before[id]--; before[id] >= 0 || f.Severity != diag.Error || f.Code == diag.NotGranted || f.Span.File != "main.star" {
			continue
		}
		if f.Span.Line < 1 || f.Span.Line > len(lines) || !was[lines[f.Span.Line-1]] {
			return fmt.Sprintf("there is a new error: %v %q", f, f.Help)
		}
	}
	count := 0
	for _, f := range g.found {
		if said(f) == said(d) {
			count++
		}
	}
	if left >= count {
		return "it is still there"
	}
	return ""
}

// said returns the text of a diagnostic without the index of an item, which changes when an earlier item is removed.
func said(d *diag.Diagnostic) string {
	return string(d.Code) + regexp.MustCompile(`\[\d+\]`).ReplaceAllString(d.Message, "[]")
}

// changed returns the new lines of a script.
func (g *golden) changed(main string) string {
	was := strings.Split(g.main, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(main, "\n"), func(line string) bool { return slices.Contains(was, line) }), "\n")
}

// byMachine applies the fixes of a row or, without any, the code that its help shows, and reports what is wrong with
// the result.
func (g *golden) byMachine(d *diag.Diagnostic) string {
	if len(d.Fixes) > 0 {
		if main, ok := fixedText(g.main, d.Fixes); ok {
			if wrong := g.mended(d, main, g.more, g.options); wrong != "" {
				return "after its fixes:\n" + g.changed(main) + "\n" + wrong
			}
			return ""
		}
	}
	if strings.HasPrefix(strings.Join(d.Help, ""), "run or check it with --allow-") {
		o := g.options
		o.Ungranted = !o.Ungranted
		return g.mended(d, g.main, g.more, o)
	}
	if d.Span.File != "main.star" || d.Span.Line < 1 {
		return "it is in another file"
	}
	wrong := "no help of it is code that can be put there"
	for _, h := range append(slices.Clone(d.Help), d.Message) {
		for _, main := range g.rewrites(d, h) {
			if wrong = g.mended(d, main, g.more, g.options); wrong == "" {
				return ""
			}
			wrong = "the help makes of it\n" + g.changed(main) + "\n" + wrong
		}
	}
	return wrong
}

// fixedText applies fixes, unless one is in another file.
func fixedText(text string, fixes []diag.Fix) (string, bool) {
	for _, f := range fixes {
		if f.Span.File != "main.star" {
			return "", false
		}
	}
	byLine := map[int][]diag.Fix{}
	for _, f := range fixes {
		byLine[f.Span.Line] = append(byLine[f.Span.Line], f)
	}
	for _, l := range byLine {
		text = apply(text, l)
	}
	return text, true
}

var (
	leaveOut  = regexp.MustCompile(`^leave (?:it|\w+|\w+ =|them) out|^leave out `)
	unquoted  = regexp.MustCompile(`^write (\S+) without quotes`)
	between   = regexp.MustCompile(`put (.+?) between them`)
	declared  = regexp.MustCompile(`^(?:declare|widen) it: (?:par\(.*, )?(output = .+?)\)?$`)
	factoryOf = regexp.MustCompile(`^make it in a factory, def (new_(\w+))\(\)`)
	guard     = regexp.MustCompile("^test it before: `(if .+:)`$")
	meant     = regexp.MustCompile(`^did you mean "(.+)"\?$`)
)

// guarded puts the statement of the row under a condition.
func (r rewriter) guarded(condition string) []string {
	lines := strings.Split(r.text, "\n")
	at := &lines[r.at.Line-1]
	code := strings.TrimLeft(*at, " ")
	indent := strings.TrimSuffix(*at, code)
	*at = indent + condition + "\n" + indent + "    " + code
	return []string{strings.Join(lines, "\n")}
}

// rewrites returns the results of a help for a script, as far as a machine can follow it.
func (g *golden) rewrites(d *diag.Diagnostic, help string) []string {
	r := rewriter{text: g.main, at: d.Span}
	tree, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true}).Parse("main.star", g.main, 0)
	if err == nil {
		r.tree = tree
	}
	switch {
	case factoryOf.MatchString(help):
		m := factoryOf.FindStringSubmatch(help)
		return r.factory(m[2], m[1])
	case help == "let it take one parameter; others need a default":
		return r.lambdas("x")
	case leaveOut.MatchString(help):
		return r.dropArgument()
	case unquoted.MatchString(help):
		return []string{r.put(r.at, unquoted.FindStringSubmatch(help)[1])}
	case between.MatchString(help) && r.shown() == ">>":
		if code := between.FindStringSubmatch(help)[1]; !strings.Contains(code, "...") {
			return []string{r.put(r.at, ">> "+code+" >>")}
		}
	case declared.MatchString(help):
		return r.addArgument(declared.FindStringSubmatch(help)[1])
	case meant.MatchString(help):
		return r.respell(meant.FindStringSubmatch(help)[1])
	case guard.MatchString(help):
		return r.guarded(guard.FindStringSubmatch(help)[1])
	case help == "put it into a list: [...]":
		return []string{r.put(r.at, "["+r.shown()+"]")}
	case strings.HasPrefix(help, "names are parts of positions") || strings.HasPrefix(help, "use letters from a to z"):
		return []string{r.put(r.at, `"plain"`)}
	case strings.HasPrefix(help, `write "name", "name*"`):
		return []string{r.put(r.at, `"*"`)}
	case strings.HasPrefix(help, "leave out run =, or these"):
		return r.instead("run", `prompt = "P."`)
	case wanted.MatchString(help): // a message that lists the accepted values
		return []string{r.put(r.at, wanted.FindStringSubmatch(help)[1])}
	case least.MatchString(help):
		return []string{r.put(r.at, least.FindStringSubmatch(help)[1])}
	case listed.MatchString(help):
		return r.pick(listed.FindStringSubmatch(help)[1])
	case strings.HasPrefix(help, "write "):
		return r.written(strings.TrimPrefix(strings.TrimPrefix(help, "write "), "the type itself: "))
	}
	if _, code, ok := strings.Cut(help, ": "); ok {
		return r.written(code)
	}
	return nil
}

var (
	wanted = regexp.MustCompile(`^.*: want one of ("\w+")`)
	least  = regexp.MustCompile(`^.*: want (?:at least )?(\d+)(?: to \d+)?, got`)
	listed = regexp.MustCompile(`^(?:its (?:fields|skills|arguments|parameters|methods) are:? |it has |the only case is |the cases are )(\S+?)(?:,|$)`)
)

// pick replaces a name by another one, in quotes if the old one is.
func (r *rewriter) pick(name string) []string {
	if strings.HasPrefix(r.shown(), `"`) && !strings.HasPrefix(name, `"`) {
		name = strconv.Quote(name)
	}
	return []string{r.put(r.at, name)}
}

// instead replaces the argument with a name in the call around the place by another argument.
func (r *rewriter) instead(name, code string) []string {
	call, _ := r.argument()
	if call == nil {
		return nil
	}
	for _, arg := range call.Args {
		if b, is := arg.(*syntax.BinaryExpr); is && b.Op == syntax.EQ && b.X.(*syntax.Ident).Name == name {
			x, y := arg.Span()
			return []string{r.put(spanOf(x, y), code)}
		}
	}
	return nil
}

// A rewriter makes the changes of one help.
type rewriter struct {
	text string
	tree *syntax.File // nil if the script does not parse
	at   diag.Span
}

// put replaces a piece of a line.
func (r *rewriter) put(at diag.Span, code string) string {
	return apply(r.text, []diag.Fix{{Span: at, Replacement: code}})
}

// shown returns the text at the diagnostic's span.
func (r *rewriter) shown() string { return r.piece(r.at) }

func (r *rewriter) piece(at diag.Span) string {
	line := []rune(strings.Split(r.text, "\n")[at.Line-1])
	return string(line[at.Col-1 : min(len(line), at.Col-1+max(at.Len, 1))])
}

func spanOf(a, b syntax.Position) diag.Span {
	return diag.Span{Pos: diag.Pos{File: "main.star", Line: int(a.Line), Col: int(a.Col)}, Len: int(b.Col - a.Col)}
}

// around returns the spans of one-line expressions that contain the diagnostic's, innermost first.
func (r *rewriter) around() []diag.Span {
	var out []diag.Span
	if r.tree == nil {
		return nil
	}
	syntax.Walk(r.tree, func(n syntax.Node) bool {
		if e, ok := n.(syntax.Expr); ok {
			a, b := e.Span()
			if x, is := e.(*syntax.IndexExpr); is { // its span ends before its bracket
				b = x.Rbrack
				b.Col++
			}
			if s := spanOf(a, b); a.Line == b.Line && s.Line == r.at.Line && s.Col <= r.at.Col && s.Col+s.Len >= r.at.Col+r.at.Len {
				out = append(out, s)
			}
		}
		return true
	})
	slices.Reverse(out)
	return out
}

// written replaces the text at the span, or an expression around it, by code that a help shows.
func (r *rewriter) written(help string) []string {
	var codes []string
	if code, ok := strings.CutPrefix(help, "`"); ok {
		code, _, _ = strings.Cut(code, "`")
		codes = append(codes, code)
	} else {
		codes = append(codes, help)
		for _, end := range []string{": ", ", or ", " or ", "; ", ", and ", ", which ", ", not "} {
			if code, _, cut := strings.Cut(help, end); cut {
				codes = append(codes, code)
			}
		}
	}
	var out []string
	for _, code := range codes {
		if _, err := (&syntax.FileOptions{}).ParseExpr("", code, 0); err != nil || strings.Contains(code, "...") {
			if _, err := (&syntax.FileOptions{}).Parse("", code+"\n", 0); err == nil && strings.Contains(code, " = ") && !strings.Contains(code, "...") {
				out = append(out, r.put(diag.Span{Pos: diag.Pos{File: "main.star", Line: r.at.Line, Col: 1}, Len: len([]rune(strings.Split(r.text, "\n")[r.at.Line-1]))}, code))
			}
			continue
		}
		if r.at.Len > 0 {
			out = append(out, r.put(r.at, code))
		}
		for _, s := range r.around() {
			out = append(out, r.put(s, code))
		}
	}
	return out
}

// respell replaces the word at the span that is nearest to the intended one.
func (r *rewriter) respell(word string) []string {
	shown, out := r.shown(), []string(nil)
	for _, m := range regexp.MustCompile(`[\w./-]+`).FindAllStringIndex(shown, -1) {
		if near, ok := diag.Suggest(shown[m[0]:m[1]], []string{word}); ok && near == word || len(shown) == m[1]-m[0]+2 {
			at := r.at
			at.Col, at.Len = at.Col+len([]rune(shown[:m[0]])), len([]rune(shown[m[0]:m[1]]))
			out = append(out, r.put(at, word))
		}
	}
	return out
}

// argument finds the argument of a call at the span, and the call.
func (r *rewriter) argument() (call *syntax.CallExpr, n int) {
	if r.tree == nil {
		return nil, 0
	}
	syntax.Walk(r.tree, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			for i, arg := range c.Args {
				a, b := arg.Span()
				if int(a.Line) == r.at.Line && int(b.Line) == r.at.Line && int(a.Col) <= r.at.Col && int(b.Col) >= r.at.Col+r.at.Len {
					call, n = c, i
				}
			}
		}
		return true
	})
	return call, n
}

// dropArgument removes the argument at the span.
func (r *rewriter) dropArgument() []string {
	call, n := r.argument()
	if call == nil {
		return nil
	}
	a, b := call.Args[n].Span()
	switch {
	case n+1 < len(call.Args):
		b, _ = call.Args[n+1].Span()
	case n > 0:
		_, a = call.Args[n-1].Span()
	}
	return []string{r.put(spanOf(a, b), "")}
}

// addArgument adds an argument to the calls around the span.
func (r *rewriter) addArgument(code string) []string {
	if r.tree == nil {
		return nil
	}
	var out []string
	name, _, _ := strings.Cut(code, " = ")
	syntax.Walk(r.tree, func(node syntax.Node) bool {
		c, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		a, _ := c.Span()
		if int(a.Line) != r.at.Line || int(c.Rparen.Line) != r.at.Line || int(a.Col) > r.at.Col || int(c.Rparen.Col) < r.at.Col {
			return true
		}
		for _, arg := range c.Args {
			if b, is := arg.(*syntax.BinaryExpr); is && b.Op == syntax.EQ && b.X.(*syntax.Ident).Name == name {
				x, y := arg.Span()
				out = append(out, r.put(spanOf(x, y), code))
				return true
			}
		}
		out = append(out, r.put(diag.Span{Pos: diag.Pos{File: "main.star", Line: int(c.Rparen.Line), Col: int(c.Rparen.Col)}}, ", "+code))
		return true
	})
	slices.Reverse(out)
	return out
}

// lambdas gives these parameters to the lambda at the span, or one in its line.
func (r *rewriter) lambdas(params string) []string {
	var out []string
	line := strings.Split(r.text, "\n")[r.at.Line-1]
	for _, m := range regexp.MustCompile(`lambda[^:]*:`).FindAllStringIndex(line, -1) {
		at := diag.Span{Pos: diag.Pos{File: "main.star", Line: r.at.Line, Col: len([]rune(line[:m[0]])) + 1}, Len: len([]rune(line[m[0]:m[1]]))}
		names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line[m[0]:m[1]], "lambda"), ":"), ",")
		if first := strings.TrimSpace(names[0]); first != "" {
			params = first
			for _, more := range names[1:] {
				params += ", " + strings.TrimSpace(more) + " = None"
			}
		}
		out = append(out, r.put(at, "lambda "+params+":"))
	}
	return out
}

// factory makes a function return the node with a name, and calls it at the span.
func (r *rewriter) factory(name, function string) []string {
	lines := strings.Split(r.text, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+" = ") })
	if i < 0 || i+1 >= r.at.Line && strings.Contains(lines[i], "(\n") {
		return nil
	}
	code := strings.TrimPrefix(lines[i], name+" = ")
	used := regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(lines[r.at.Line-1], function+"()")
	lines[r.at.Line-1] = used
	lines[i] = "def " + function + "():\n    return " + code + "\n" + name + " = " + function + "()"
	return []string{strings.Join(lines, "\n")}
}
