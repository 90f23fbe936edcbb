package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/generable"
)

// The error about a value that a flag does not accept names the flag, what it accepts, and an example.
func TestFlagValues(t *testing.T) {
	set := pflag.NewFlagSet("all", pflag.ContinueOnError)
	set.Usage = func() {}
	(&RunFlags{}).Flags().VisitAll(set.AddFlag)
	set.Uint16("port", 0, "")
	set.Duration("linger", time.Second, "")
	numbers := 0
	set.VisitAll(func(f *pflag.Flag) {
		if typ := f.Value.Type(); typ != "string" && typ != "stringArray" && wanted[typ] == "" {
			t.Errorf("nothing says what --%s takes, which is a %s", f.Name, typ)
		} else if wanted[typ] != "" {
			numbers++
		}
	})
	if numbers < 12 {
		t.Errorf("%d flags of numbers, durations and truth values", numbers)
	}
	for _, row := range []struct{ arg, want string }{
		{"--max-usd=abc", `--max-usd: want a number such as 0.5, got "abc"`},
		{"--max-usd=1e999", `--max-usd: want a number such as 0.5, got "1e999", which is out of range`},
		{"--max-steps=many", `--max-steps: want a whole number such as 10, got "many"`},
		{"--max-steps=99999999999999999999", `--max-steps: want a whole number such as 10, got "99999999999999999999", which is out of range`},
		{"--retries=1.5", `--retries: want a whole number such as 10, got "1.5"`},
		{"--port=99999", `--port: want a whole number such as 8080, got "99999", which is out of range`},
		{"--timeout=5", `--timeout: want a duration such as 90s or 2m, got "5"`},
		{"--linger=soon", `--linger: want a duration such as 90s or 2m, got "soon"`},
		{"--json=maybe", `--json: want true or false, got "maybe"`},
	} {
		if got := FlagFailure(set.Parse([]string{row.arg}), runVerb, set).Found[0].Message; got != row.want {
			t.Errorf("%s: %s, want %s", row.arg, got, row.want)
		}
	}
}

// A parameter of main hides the flag with its name: in the usage, and in the message about truth values after it.
func TestHiddenFlags(t *testing.T) {
	own := (&RunFlags{}).Flags()
	params := []*Param{{of: generable.Field{Name: "quiet", Type: generable.StrT}}, {of: generable.Field{Name: "be_loud", Type: generable.BoolT}}}
	left := Unhidden(own, params)
	for name, shown := range map[string]bool{"quiet": false, "json": true, "model": true} {
		if (left.Lookup(name) != nil) != shown {
			t.Errorf("--%s is shown: %v", name, !shown)
		}
	}
	for _, row := range []struct {
		want string
		args []string
	}{
		{"", []string{"--quiet", "no"}},
		{"", []string{"--json"}},
		{"", []string{"--model", "yes"}},
		{"", []string{"--", "--json", "no"}},
		{`--json takes no value, and got "no"`, []string{"--json", "no"}},
		{`--be-loud takes no value after a blank, and got "ON"`, []string{"--be_loud", "ON"}},
		{`--no-be-loud takes no value after a blank, and got "yes"`, []string{"x", "--no-be-loud", "yes"}},
	} {
		got := ""
		if f := CheckBoolArgs(own, params, row.args); f != nil {
			got = f.Found[0].Message
		}
		if got != row.want {
			t.Errorf("%v: %q, want %q", row.args, got, row.want)
		}
	}
}

// What the provider flags leave out is left to the providers' own limits and to the registry.
func TestProviderOptions(t *testing.T) {
	for args, want := range map[string]int{"": 2, "--max-in-flight=8": 3, "--fallback-on-refusal": 3, "--fallback-on-refusal --max-in-flight=2": 4} {
		o := &RunFlags{}
		set := o.Flags()
		if err := set.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := len(o.provider.options(set)); got != want {
			t.Errorf("%q: %d options, want %d", args, got, want)
		}
	}
}
