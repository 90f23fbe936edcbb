package setup

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// A value that a flag cannot take is refused by the flag's name, what it takes, and an example.
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
		if got := FlagFailure(set.Parse([]string{row.arg}), set).Found[0].Message; got != row.want {
			t.Errorf("%s: %s, want %s", row.arg, got, row.want)
		}
	}
}
