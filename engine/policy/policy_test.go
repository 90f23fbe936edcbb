package policy_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// anyTool accepts the arguments of any row.
func anyTool(name string, class engine.Class) *policy.Call {
	return &policy.Call{Name: name, Class: class, Params: &generable.Type{Kind: generable.DictType, Elem: generable.AnyT}}
}

func parsed(t testing.TB, text string) generable.Value {
	t.Helper()
	res := lenient.Decode(generable.AnyT, text, generable.Options{})
	if !res.OK {
		t.Fatal(text, res.Errors)
	}
	return res.Value
}

// TestPatterns checks each pattern against calls, as a rule that denies and as one that allows. "=" means that both
// match, "!" that only the denying one matches, "-" that neither does.
func TestPatterns(t *testing.T) {
	for _, row := range []struct{ pattern, tool, args, want string }{
		{"send", "send", `{}`, "="},
		{" send ", "send", `{}`, "="},
		{"send", "SEND", `{}`, "!"},
		{"send", "send2", `{}`, "-"},
		{"send*", "send_mail", `{}`, "="},
		{"*", "anything", `{}`, "="},
		{"*_mail", "send_mail", `{}`, "="},
		{"s*d*l", "send_mail", `{}`, "="},
		{"a*a", "a", `{}`, "-"},
		{`se\*d`, "se*d", `{}`, "="},
		{`se\*d`, "seed", `{}`, "-"},
		{"@read", "look", `{}`, "="},
		{"@once", "look", `{}`, "-"},
		{"send()", "send", `{"to": "x"}`, "="},

		{"send(to=bob)", "send", `{"to": "bob"}`, "="},
		{"send(to=bob)", "send", `{"to": "Bob"}`, "!"},
		{"send(to=bob)", "send", `{"to": " bob\n"}`, "!"},
		{"send(to=bob)", "send", `{"to": "b\u200bo\u0000b"}`, "!"},
		{"send(to=bob)", "send", `{"TO": "bob"}`, "!"},
		{"send(to=bob)", "send", `{}`, "-"},
		{"send(to=bob)", "send", `{"to": "eve"}`, "-"},
		{"send(to=bob, text=*hi*)", "send", `{"to": "bob", "text": "oh hi!"}`, "="},
		{"send(to=bob, text=*hi*)", "send", `{"to": "bob", "text": "no"}`, "-"},
		{`send(text="a,(b)*")`, "send", `{"text": "a,(b) c"}`, "="},
		{`send(text=a\,b)`, "send", `{"text": "a,b"}`, "="},
		{"send(to!=bob)", "send", `{"to": "eve"}`, "="},
		{"send(to!=bob)", "send", `{"to": "bob"}`, "-"},
		{"send(to!=bob)", "send", `{}`, "!"},

		{"send(to=*@example.com)", "send", `{"to": "a@example.com"}`, "="},
		{"send(to=*@example.com)", "send", `{"to": ["a@example.com", "b@example.com"]}`, "="},
		{"send(to=*@example.com)", "send", `{"to": ["a@example.com", "b@evil.com"]}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "x@evil.com, a@example.com"}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "Ann <a@example.com>; Bob <b@example.com>"}`, "="},
		{"send(to=*@example.com)", "send", `{"to": "a@example.com.evil.com"}`, "-"},
		{"send(to!=*@example.com)", "send", `{"to": "x@evil.com, a@example.com"}`, "!"},

		{"read(path=docs/*)", "read", `{"path": "docs/a.md"}`, "="},
		{"read(path=docs/*)", "read", `{"path": "./docs//a.md"}`, "="},
		{"read(path=docs/*)", "read", `{"path": "docs/../secret"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "docs/%2e%2e/secret"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "docs/%252e%252e/secret"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "docs/..\\secret"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/tmp/../etc/passwd"}`, "="},
		{"read(path=/etc/*)", "read", `{"path": "/ETC/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "\\etc\\passwd"}`, "!"},
		{"get(url=https://a.example/*)", "get", `{"url": "https://a.example/x?y=1"}`, "="},
		{"get(url=https://a.example/*)", "get", `{"url": "https://a.example/../evil"}`, "!"},
		{"get(url=https://a.example/*)", "get", `{"url": "https://a.example.evil/x"}`, "-"},

		{"read(path=docs/*)", "read", `{"path": "../here/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "x/../../here/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": ".."}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "/home/ann/here/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "C:\\here\\docs\\a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "file:///home/ann/here/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "FILE://localhost/home/a%2e/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "~/here/docs/a.md"}`, "!"},
		{"read(path=docs/*)", "read", `{"path": "src/a.md"}`, "-"},
		{"read(path=.env)", "read", `{"path": "/home/ann/.env"}`, "!"},
		{"read(path=.env)", "read", `{"path": "../here/.ENV"}`, "!"},
		{"read(path=.env)", "read", `{"path": "file:/home/ann/.env"}`, "!"},
		{"read(path=.env)", "read", `{"path": "/home/ann/notes"}`, "-"},
		{"read(path=/etc/*)", "read", `{"path": "../../etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/proc/self/root/etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "file:///etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "file:/tmp/../etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "file:///tmp/a"}`, "-"},
		{"read(path=/etc/passwd)", "read", `{"path": "/etc/passwd\u0000.md"}`, "!"},
		{"read(path=/etc/passwd)", "read", `{"path": "/etc/passwd%00.md"}`, "!"},
		{"read(path=/etc/passwd)", "read", `{"path": "file:///etc/passwd?x#y"}`, "!"},
		{"read(path=*.md)", "read", `{"path": "/etc/passwd\u0000.md"}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "mailto:ann@example.com?bcc=eve@evil.com"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/tmp/a"}`, "-"},
		{"read(path=*/keys/*)", "read", `{"path": "/tmp/a"}`, "-"},
		{"read(path=*/keys/*)", "read", `{"path": "/tmp/keys/a"}`, "="},
		{"read(path=file:///docs/*)", "read", `{"path": "file:///docs/a"}`, "="},
		{"get(url=https://a.example/*)", "get", `{"url": "/etc/passwd"}`, "-"},
		{"send(to=*@example.com)", "send", `{"to": "a@evil.com@example.com"}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "a\uff20evil.com@example.com"}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "ann@example.com, a@evil.com@example.com"}`, "!"},
		{"send(to=*@evil.com)", "send", `{"to": "a@evil.com@example.com"}`, "!"},
		{"send(to!=*@example.com)", "send", `{"to": "a@evil.com@example.com"}`, "!"},

		{"pay(amount=100)", "pay", `{"amount": 1e2}`, "="},
		{"pay(amount=100)", "pay", `{"amount": 100.0}`, "="},
		{"pay(amount>100)", "pay", `{"amount": 100}`, "-"},
		{"pay(amount>100)", "pay", `{"amount": 100.5}`, "="},
		{"pay(amount>=100)", "pay", `{"amount": "100"}`, "="},
		{"pay(amount<100)", "pay", `{"amount": "a lot"}`, "!"},
		{"pay(amount<=1e3)", "pay", `{"amount": 123456789012345678901234567890}`, "-"},
		{"pay(amount>100)", "pay", `{"amount": "NaN"}`, "!"},
		{"pay(amount<=100)", "pay", `{"amount": "nan"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/tmp/%2e%2e/etc/100%"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/%00etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "%20/etc/passwd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "%5Cetc%5Cpasswd"}`, "!"},
		{"read(path=/etc/*)", "read", `{"path": "/%E2%80%8Betc/passwd"}`, "!"},
		{"send(to=bob)", "send", `{"to": "b%E2%80%8Bob"}`, "!"},
		{"send(to!=*@example.com)", "send", `{"to": "x%40evil.com%2C a@example.com"}`, "!"},
		{"send(to=*@example.com)", "send", `{"to": "x%40evil.com%2C a@example.com"}`, "!"},
		{"send(to=*b*)", "send", `{"to": "%2525252525252525252525252525252525252562%2525252525252525252525252525252525252520\\\u0000 "}`, "!"},
		{"pay(really=true)", "pay", `{"really": true}`, "="},
		{"pay(note=null)", "pay", `{"note": null}`, "="},

		{"pay(to.country=NL)", "pay", `{"to": {"country": "NL"}}`, "="},
		{"pay(to.country=NL)", "pay", `{"to": [{"country": "NL"}, {"country": "BE"}]}`, "!"},
		{"pay(to.*=NL)", "pay", `{"to": {"name": "x", "land": "NL"}}`, "!"},
		{"pay(to=NL)", "pay", `{"to": {"name": "x", "land": "NL"}}`, "!"},
		{"pay(to.country=NL)", "pay", `{"to": "NL"}`, "-"},
	} {
		tool, args := anyTool(row.tool, engine.ClassRead), parsed(t, row.args)
		forbids := enginetest.Policy(t, policy.Rules{Deny: []string{row.pattern}}).Judge(tool, args).Ruling
		allows := enginetest.Policy(t, policy.Rules{Allow: []string{row.pattern}}).Judge(tool, args).Ruling
		got := map[[2]bool]string{{true, true}: "=", {true, false}: "!", {false, false}: "-"}[[2]bool{forbids == policy.Denied, allows == policy.Allowed}]
		if got != row.want {
			t.Errorf("%s on %s%s: %q, want %q", row.pattern, row.tool, row.args, got, row.want)
		}
	}
}

// TestDenyWins checks the order of rulings for random rules in random order: the strictest matching rule wins, and with
// allow rules a call that none matches is denied.
func TestDenyWins(t *testing.T) {
	tools := []string{"a", "ab", "b"}
	patterns := []string{"a", "a*", "b", "*b", "@once", "c*"}
	fits := map[string]string{"a": "a", "a*": "a ab", "b": "b", "*b": "ab b", "@once": "b", "c*": ""}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var rs policy.Rules
		for _, list := range []*[]string{&rs.Allow, &rs.Ask, &rs.Deny} {
			for range r.IntN(3) {
				*list = append(*list, patterns[r.IntN(len(patterns))])
			}
		}
		p := enginetest.Policy(t, rs)
		for _, tool := range tools {
			class := engine.ClassRead
			if tool == "b" {
				class = engine.ClassOnce
			}
			some := func(list []string) bool {
				for _, one := range list {
					for _, name := range strings.Fields(fits[one]) {
						if name == tool {
							return true
						}
					}
				}
				return false
			}
			want := policy.Allowed
			switch {
			case some(rs.Deny):
				want = policy.Denied
			case some(rs.Ask):
				want = policy.Asked
			case len(rs.Allow) > 0 && !some(rs.Allow):
				want = policy.Denied
			}
			if got := p.Judge(anyTool(tool, class), parsed(t, "{}")); got.Ruling != want {
				t.Fatalf("%+v on %s: %s (%s), want %s", rs, tool, got.Ruling, got.Why(), want)
			}
		}
	}
}

// FuzzPattern requires that a pattern is read or refused with a code, and that whatever a rule allows, the same rule
// also forbids.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"send", "s*", "@once", "send(to=*@x, n>1)", `a(b="c\")")`, "a(b", "a)b", `\`, "a(x.y.*!=../..)", "(", "a(=)", "a(b==c)"} {
		f.Add(s, "bob@x")
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		deny, err := policy.New("p", policy.Rules{Deny: []string{pattern}})
		if err != nil {
			if !errors.Is(err, &engine.Error{Code: diag.BadRule}) || len(err.Error()) > 10*len(pattern)+300 {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		allow := enginetest.Policy(t, policy.Rules{Allow: []string{pattern}})
		m := generable.NewMap(3)
		m.Set("to", generable.StrOf(value))
		m.Set("b", generable.IntOf(3))
		m.Set("x", generable.ListOf(generable.StrOf(value)))
		for _, name := range []string{"send", "a", value} {
			tool := anyTool(name, engine.ClassOnce)
			forbids := deny.Judge(tool, m.Value()).Ruling
			allows := allow.Judge(tool, m.Value()).Ruling
			if allows == policy.Allowed && forbids != policy.Denied {
				t.Fatalf("%q allows %s(%q) and does not forbid it", pattern, name, value)
			}
		}
	})
}

// TestDenialNamesTheRule: the help for people names the rule, or says that no rule allows the call.
func TestDenialNamesTheRule(t *testing.T) {
	for _, row := range []struct {
		rules policy.Rules
		want  string
	}{
		{policy.Rules{Deny: []string{"look"}}, "the rule deny look of the test denies it"},
		{policy.Rules{Allow: []string{"look(path=docs/*)"}}, "no allow rule of the test fits the call"},
	} {
		p, err := policy.New("the test", row.rules)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Judge(anyTool("look", engine.ClassRead), parsed(t, `{"path": "etc/x.md"}`))
		if got := d.Denial("look").Help; got != row.want {
			t.Errorf("%+v: %q, want %q", row.rules, got, row.want)
		}
	}
}
