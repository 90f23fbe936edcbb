package pythonisms

import (
	"strconv"
	"strings"
)

// percent checks `"…" % x`.
func (f *file) percent(i int, l literal) {
	convs := percents(l.body)
	bad := firstBad(convs)
	if bad < 0 {
		return
	}
	help := formatFirst(convs[bad])
	if end, ok := f.right(i+2, pMul); ok {
		if s, ok := f.rewritePercent(i, l, convs, i+2, end); ok {
			help = write(s)
		}
	}
	helps := []string{help}
	if strings.HasPrefix(l.body[convs[bad].start:], "% ") {
		helps = append(helps, "a percent sign is written `%%`")
	}
	f.reportConv(i, l, convs[bad], helps...)
}

// rewritePercent shows string i and its operand [a, b) with fmt.
func (f *file) rewritePercent(i int, l literal, convs []conv, a, b int) (string, bool) {
	args := [][2]int{{a, b}}
	open, closing := "", ""
	if f.toks[a].is("(") && f.toks[a].match == b-1 {
		if items := f.items(a); len(items) > 1 || f.toks[b-2].is(",") {
			args, open, closing = items, "(", ")"
		}
	}
	var body strings.Builder
	texts := make([]string, len(args))
	for n, it := range args {
		texts[n] = strings.TrimSpace(f.text(it[0], it[1]))
	}
	at := 0
	for _, c := range convs {
		if c.odd || c.name != "" || c.arg >= len(args) {
			return "", false
		}
		if c.spec == "" {
			continue
		}
		texts[c.arg] = "fmt(" + texts[c.arg] + ", " + strconv.Quote(c.spec) + ")"
		body.WriteString(l.body[at:c.start] + "%s")
		at = c.end
	}
	body.WriteString(l.body[at:])
	if body.String() == "%s" && len(args) == 1 {
		return texts[0], true
	}
	if len(args) == 1 && open != "" {
		closing = ",)"
	}
	return l.prefix + l.quote + body.String() + l.quote + " % " + open + strings.Join(texts, ", ") + closing, true
}

// percents reads the conversions of Python's % operator.
func percents(body string) []conv {
	var out []conv
	arg := 0
	for i := 0; i < len(body); i++ {
		if body[i] != '%' {
			continue
		}
		c := conv{start: i, arg: arg}
		i++
		if i < len(body) && body[i] == '(' {
			n := strings.IndexByte(body[i:], ')')
			if n < 0 {
				return out
			}
			c.name = body[i+1 : i+n]
			i += n + 1
		}
		take := func(set string) string {
			start := i
			for i < len(body) && strings.IndexByte(set, body[i]) >= 0 {
				i++
			}
			return body[start:i]
		}
		flags := take("-+ #0")
		width := take("0123456789*")
		precision := ""
		if i < len(body) && body[i] == '.' {
			i++
			precision = "." + take("0123456789*")
		}
		long := take("hlL")
		if i >= len(body) {
			return out
		}
		verb := body[i]
		c.end = i + 1
		if verb == '%' && c.end == c.start+2 {
			continue
		}
		if strings.IndexByte("diouxXeEfFgGcrsa", verb) < 0 {
			i = c.start
			continue // no conversion of Python's either
		}
		if flags+width+precision+long != "" || verb == 'u' || verb == 'a' {
			c.spec = specOf(flags, width, precision, verb)
			c.odd = strings.Contains(width+precision, "*") || verb == 'a' || verb == 'r' || verb == 'c'
		}
		arg++
		out = append(out, c)
	}
	return out
}

// specOf writes a % conversion as a format specification. The order is that of
// the specification: alignment, sign, #, 0, width, precision, type.
func specOf(flags, width, precision string, verb byte) string {
	var s string
	text := verb == 's' || verb == 'r' || verb == 'a'
	switch {
	case strings.Contains(flags, "-"):
		s = "<"
	case text && width != "":
		s = ">"
	}
	for _, flag := range []string{"+", " ", "#", "0"} {
		if strings.Contains(flags, flag) && !(text || flag == "0" && s == "<" || flag == " " && strings.Contains(flags, "+")) {
			s += flag
		}
	}
	s += width + precision
	switch {
	case text:
	case verb == 'i' || verb == 'u':
		s += "d"
	default:
		s += string(verb)
	}
	if s == "" {
		s = string(verb)
	}
	return s
}
