package data

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// formatSpec is [[fill]align][sign][#][0][width][grouping][.precision][type].
type formatSpec struct {
	fill      string
	align     byte // < > ^ =, 0 for the value's default
	sign      byte // + - or space, 0 if not given
	alternate bool
	width     int
	group     string // "," or "_"
	precision int    // -1 if not given
	verb      byte
}

// The bounds that keep one call from filling the memory.
const (
	maxWidth     = 10_000
	maxPrecision = 1_000
)

var specParts = lazy.Regexp(`(?s)^(?:(.?)([<>^=]))?([+\- ]?)(#?)(0?)(\d*)([,_]?)(\.?)(\d*)([bcdeEfFgGnosxX%]?)`)

func parseSpec(s string) (formatSpec, error) {
	m := specParts().FindStringSubmatch(s) // every part is optional, so it always matches
	first := func(part string) byte { return (part + "\x00")[0] }
	f := formatSpec{fill: cmp.Or(m[1], " "), align: first(m[2]), sign: first(m[3]), alternate: m[4] != "", group: m[7], precision: -1, verb: first(m[10])}
	if m[5] != "" && f.align == 0 {
		f.fill, f.align = "0", '='
	}
	f.width, _ = strconv.Atoi(m[6])
	if m[8] != "" {
		var err error
		if f.precision, err = strconv.Atoi(m[9]); err != nil {
			return f, fmt.Errorf("%q has no number after the point", s)
		}
	}
	switch rest := s[len(m[0]):]; {
	case rest != "":
		return f, fmt.Errorf("%q is not a format: %q is not understood", s, rest)
	case f.width > maxWidth:
		return f, fmt.Errorf("the width %d is above %d", f.width, maxWidth)
	case f.precision > maxPrecision:
		return f, fmt.Errorf("the precision %d is above %d", f.precision, maxPrecision)
	}
	return f, nil
}

func fmtFunc(c *table.Call) (starlark.Value, error) {
	f, ok := specOf(c)
	if !ok {
		return nil, nil
	}
	v := c.Arg("value")
	if f.refused(c, v, v) {
		return nil, nil
	}
	out, err := f.format(v)
	if err != nil {
		c.Problemf(diag.WrongArgument, c.ArgSpan("value"), "fmt: %s", err)
		return nil, nil
	}
	return starlark.String(out), nil
}

// specOf returns the specification of a call. It reports one that cannot be parsed.
func specOf(c *table.Call) (formatSpec, bool) {
	spec := c.Str("spec")
	if inner, ok := strings.CutPrefix(spec, "{:"); ok && strings.HasSuffix(inner, "}") {
		spec = strings.TrimSuffix(inner, "}")
	}
	f, err := parseSpec(spec)
	if err != nil {
		c.Problemf(diag.FormatSpec, c.ArgSpan("spec"), "fmt: %s", err).Help = []string{`as in fmt(x, ".1f"), fmt(n, ",d"), fmt(share, ".0%"), fmt(name, ">10")`}
	}
	return f, err == nil
}

// fmtLook checks a call whose specification is known, and whose value is known at least by its type.
func fmtLook(c *table.Call) {
	if _, known := c.Arg("spec").(starlark.String); !known {
		return
	}
	switch v := c.Arg("value").(type) {
	case *value.Typed:
		if f, ok := specOf(c); ok {
			f.refused(c, v.Of, v)
		}
	case *value.Failed, nil:
		specOf(c)
	default:
		_, _ = fmtFunc(c) // reports what is wrong
	}
}

// refused reports a value whose type the specification does not support. v is a value of the type; messages show it as
// shown.
func (f formatSpec) refused(c *table.Call, v, shown starlark.Value) bool {
	wrong, help := "", ""
	is := func(verbs string) bool { return f.verb != 0 && strings.IndexByte(verbs, f.verb) >= 0 }
	switch v.(type) {
	case *value.Failed:
	case starlark.Int:
		if is("s") {
			wrong, help = fmt.Sprintf("the type %q is not for whole numbers", f.verb), "leave the type out"
		} else if f.precision >= 0 && !is("eEfFgG%c") {
			wrong, help = "a precision is for numbers with a fraction", fmt.Sprintf("write .%df", f.precision)
		}
	case starlark.Float:
		if is("bcdoxXs") {
			wrong, help = fmt.Sprintf("the type %q is for whole numbers", f.verb), "write int(x), or the type .0f"
		}
	default:
		if f.verb != 0 && !is("s") {
			wrong = fmt.Sprintf("the type %q is for numbers", f.verb)
		} else if f.align == '=' || f.group != "" || f.sign == '+' {
			wrong = "signs, grouping and zeros are for numbers"
		}
		help = "leave that out of the specification"
		if _, text := v.(starlark.String); text {
			help = "make a number of the text: fmt(float(s), ...), or int(s)"
		}
	}
	if wrong == "" {
		return false
	}
	c.Problemf(diag.WrongArgument, c.ArgSpan("value"), "fmt: %s, got %s", wrong, value.Describe(shown)).Help = []string{help}
	return true
}

func (f formatSpec) format(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.Int:
		if f.verb != 0 && strings.IndexByte("eEfFgG%", f.verb) >= 0 {
			x, _ := new(big.Float).SetInt(v.BigInt()).Float64()
			return f.float(x)
		}
		return f.integer(v.BigInt())
	case starlark.Float:
		return f.float(float64(v))
	case *value.Failed:
		return "", nil
	}
	s, err := value.PlainText(v)
	if err != nil {
		return "", err
	}
	if f.precision >= 0 && utf8.RuneCountInString(s) > f.precision {
		s = string([]rune(s)[:f.precision])
	}
	return f.pad("", s, '<'), nil
}

func (f formatSpec) integer(i *big.Int) (string, error) {
	base, prefix := 10, ""
	switch f.verb {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 0, 'd', 'n':
	case 'c':
		if !i.IsInt64() || i.Int64() < 0 || i.Int64() > utf8.MaxRune || !utf8.ValidRune(rune(i.Int64())) {
			return "", fmt.Errorf("%s is not a character", i)
		}
		return f.pad("", string(rune(i.Int64())), '<'), nil
	}
	digits := new(big.Int).Abs(i).Text(base)
	every := 3
	if base != 10 {
		every = 4
	}
	if f.group != "" {
		digits = grouped(digits, f.group, every)
	}
	if f.alternate {
		digits = prefix + digits
	}
	if f.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return f.pad(f.signOf(i.Sign() < 0), digits, '>'), nil
}

func (f formatSpec) float(x float64) (string, error) {
	verb, precision, suffix := cmp.Or(f.verb, 'g'), f.precision, ""
	if precision < 0 && f.verb != 0 {
		precision = 6
	}
	switch verb {
	case '%':
		verb, x, suffix = 'f', x*100, "%"
	case 'F', 'n':
		verb = map[byte]byte{'F': 'f', 'n': 'g'}[verb]
	}
	neg := math.Signbit(x)
	if neg {
		x = -x
	}
	digits := starlark.Float(x).String() // as str() formats it
	switch {
	case precision < 0:
	case verb == 'g', verb == 'G':
		digits = strconv.FormatFloat(x, verb, max(precision, 1), 64)
	default:
		digits = strconv.FormatFloat(x, verb, precision, 64)
	}
	if f.group != "" {
		whole, fraction, dotted := strings.Cut(digits, ".")
		digits = grouped(whole, f.group, 3)
		if dotted {
			digits += "." + fraction
		}
	}
	return f.pad(f.signOf(neg), digits+suffix, '>'), nil
}

func (f formatSpec) signOf(neg bool) string {
	switch {
	case neg:
		return "-"
	case f.sign == '+' || f.sign == ' ':
		return string(f.sign)
	}
	return ""
}

// grouped inserts a separator between groups of digits, from the right.
func grouped(digits, sep string, every int) string {
	for _, r := range digits {
		if r < '0' || r > '9' && r < 'a' || r > 'f' {
			return digits // an exponent, or infinity
		}
	}
	for i := len(digits) - every; i > 0; i -= every {
		digits = digits[:i] + sep + digits[i:]
	}
	return digits
}

// pad pads sign and body to the width.
func (f formatSpec) pad(sign, body string, otherwise byte) string {
	align := f.align
	if align == 0 {
		align = otherwise
	}
	n := f.width - utf8.RuneCountInString(sign) - utf8.RuneCountInString(body)
	if n <= 0 {
		return sign + body
	}
	switch align {
	case '<':
		return sign + body + strings.Repeat(f.fill, n)
	case '^':
		return strings.Repeat(f.fill, n/2) + sign + body + strings.Repeat(f.fill, n-n/2)
	case '=':
		return sign + strings.Repeat(f.fill, n) + body
	}
	return strings.Repeat(f.fill, n) + sign + body
}
