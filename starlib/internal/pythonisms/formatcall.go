package pythonisms

import (
	"strconv"
	"strings"
)

// formatCall checks `"…".format(…)`.
func (f *file) formatCall(i int, l literal) {
	convs := replacements(l.body)
	bad := firstBad(convs)
	if bad < 0 {
		return
	}
	help := formatFirst(convs[bad])
	if convs[bad].spec == "" {
		help = "give `x" + convs[bad].path + "` as an argument of its own"
	}
	if s, ok := f.rewriteFormat(l, convs, i+3); ok {
		help = write(s)
	}
	f.reportConv(i, l, convs[bad], help)
}

// rewriteFormat shows the call of format whose bracket is open with fmt. Every
// argument must be used once.
func (f *file) rewriteFormat(l literal, convs []conv, open int) (string, bool) {
	var args []string
	names := map[string]int{}
	for n, it := range f.items(open) {
		a, b := it[0], it[1]
		if f.toks[a].is("*") || f.toks[a].is("**") {
			return "", false
		}
		if b-a > 2 && f.toks[a+1].is("=") {
			names[f.toks[a].text] = n
			a += 2
		}
		args = append(args, strings.TrimSpace(f.text(a, b)))
	}
	keyed := make([]string, len(args))
	for name, n := range names {
		keyed[n] = name + " = "
	}
	var body strings.Builder
	at, used := 0, map[int]bool{}
	for _, c := range convs {
		n, ok := c.arg, c.arg < len(args)
		if c.name != "" {
			n, ok = names[c.name]
		} else if ok && keyed[n] != "" {
			ok = false
		}
		if c.odd || !ok || used[n] {
			return "", false
		}
		used[n] = true
		if c.spec == "" && c.path == "" {
			continue
		}
		args[n] += c.path
		if c.conv == "!r" {
			args[n] = "repr(" + args[n] + ")"
		}
		if c.spec != "" {
			args[n] = "fmt(" + args[n] + ", " + strconv.Quote(c.spec) + ")"
		}
		field := l.body[c.start+1 : c.end-1]
		field = field[:len(field)-len(strings.TrimLeft(field, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))]
		body.WriteString(l.body[at:c.start] + "{" + field + "}")
		at = c.end
	}
	body.WriteString(l.body[at:])
	if body.String() == "{}" && len(args) == 1 && convs[0].spec != "" {
		return args[0], true
	}
	for n := range args {
		args[n] = keyed[n] + args[n]
	}
	return l.prefix + l.quote + body.String() + l.quote + ".format(" + strings.Join(args, ", ") + ")", true
}

// replacements reads the fields of a string for the method format.
func replacements(body string) []conv {
	var out []conv
	auto := 0
	for i := 0; i < len(body); i++ {
		if strings.HasPrefix(body[i:], "{{") || strings.HasPrefix(body[i:], "}}") {
			i++
			continue
		}
		if body[i] != '{' {
			continue
		}
		end, depth := i+1, 0
		for end < len(body) && (body[end] != '}' || depth > 0) {
			switch body[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			end++
		}
		if end == len(body) {
			return out
		}
		c := conv{start: i, end: end + 1}
		field, spec, _ := strings.Cut(body[i+1:end], ":")
		c.odd = strings.Contains(spec, "{")
		c.spec = spec
		field, conversion, has := strings.Cut(field, "!")
		if has {
			c.conv = "!" + conversion
		}
		if n := strings.IndexAny(field, ".["); n >= 0 {
			field, c.path = field[:n], field[n:]
			c.odd = c.odd || strings.Contains(c.path, "[") && !numbersOnly(c.path)
		}
		if n, err := strconv.Atoi(field); err == nil && n >= 0 {
			c.arg = n
		} else if field == "" {
			c.arg = auto
			auto++
		} else if identifier(field) {
			c.name = field
		} else {
			i = end // braces that are no field, such as those of JSON
			continue
		}
		out = append(out, c)
		i = end
	}
	return out
}

// numbersOnly reports whether all indices of a path are numbers: x[a] in a
// field means x["a"].
func numbersOnly(path string) bool {
	for {
		_, rest, found := strings.Cut(path, "[")
		if !found {
			return true
		}
		index, after, _ := strings.Cut(rest, "]")
		if _, err := strconv.Atoi(index); err != nil {
			return false
		}
		path = after
	}
}

func identifier(s string) bool {
	for i, r := range s {
		if !isLetter(r) && (i == 0 || !isDigit(r)) {
			return false
		}
	}
	return s != ""
}
