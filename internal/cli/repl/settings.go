package repl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// reopen makes the next run open its models again.
func (s *session) reopen() {
	s.close()
	s.ports = nil
}

func (s *session) model(name string) error {
	if name != "" {
		if problem := s.flags.UseModel(s.c, name, s.ws.Module()); problem != nil {
			return s.fail(problem)
		}
		s.reopen()
	}
	given := strings.Join(s.flags.ModelsGiven(), ", ")
	switch {
	case s.flags.Scripted != "":
		given = "answers of " + s.flags.Scripted
	case s.flags.Calls.Replay != "":
		given = "the record " + s.flags.Calls.Replay
	case s.flags.Mock.On:
		given = "made-up answers, until :mock off"
	case given == "":
		given = "each agent's own"
	}
	if name != "" {
		return s.say(given)
	}
	return s.print(given)
}

// onOff sets a switch or, without a word, shows it.
func (s *session) onOff(command, word string, is *bool) error {
	write := s.say
	switch word {
	case "on", "off":
		*is = word == "on"
	case "":
		write = s.print
	default:
		return s.wrong(command+" on, or "+command+" off", "%s takes on or off, and got %q", command, word)
	}
	if *is {
		return write(command[1:] + " is on")
	}
	return write(command[1:] + " is off")
}

func (s *session) mock(word string) error {
	before := s.flags.Mock.On
	err := s.onOff(":mock", word, &s.flags.Mock.On)
	if s.flags.Mock.On != before {
		s.reopen()
	}
	return err
}

func (s *session) trace(word string) error { return s.onOff(":trace", word, &s.verbose) }

func (s *session) time(expr string) error {
	if expr == "" || expr == "on" || expr == "off" {
		return s.onOff(":time", expr, &s.timed)
	}
	before := s.timed
	s.timed = true
	defer func() { s.timed = before }()
	return s.entry(expr)
}

// budgetFlags are the flags that :budget sets.
var budgetFlags = map[string]string{"calls": "max-model-calls", "tools": "max-tool-calls", "tokens": "max-tokens", "usd": "max-usd"}

// limitName returns a limit by its name in :budget. The names of budget(...) in scripts are accepted too.
func limitName(name string) string {
	switch name {
	case "model_calls":
		return "calls"
	case "tool_calls":
		return "tools"
	}
	return name
}

func (s *session) budget(limits string) error {
	set := map[*pflag.Flag]string{}
	for limit := range strings.FieldsSeq(limits) {
		name, value, _ := strings.Cut(limit, "=")
		name = limitName(name)
		flag := s.own.Lookup(budgetFlags[name])
		if flag == nil {
			known := slices.Sorted(maps.Keys(budgetFlags))
			return s.wrong("the limits are "+strings.Join(known, ", ")+": :budget calls=10", "there is no limit %q", name)
		}
		n, err := strconv.ParseFloat(value, 64)
		if amount := name == "usd"; value != "off" && (err != nil || !(n >= 0 && n <= math.MaxInt64) || !amount && n != math.Trunc(n)) {
			what := "a whole number"
			if amount {
				what = "an amount"
			}
			return s.wrong(":budget "+name+"=10, or "+name+"=off", "%s takes %s that is not negative, and got %q", name, what, value)
		}
		set[flag] = value
		if value != "off" && name != "usd" {
			set[flag] = strconv.FormatInt(int64(n), 10)
		}
	}
	for flag, value := range set {
		if value == "off" {
			_ = flag.Value.Set(flag.DefValue) // its earlier value
			flag.Changed = false
		} else if err := s.own.Set(flag.Name, value); err != nil {
			return s.wrong("", "%v", err)
		}
	}
	said := "spent: " + s.spent.String()
	for _, name := range slices.Sorted(maps.Keys(budgetFlags)) {
		if flag := s.own.Lookup(budgetFlags[name]); flag.Changed {
			value := flag.Value.String()
			if usd, err := s.own.GetFloat64(flag.Name); err == nil {
				value = "$" + term.Amount(usd)
			}
			said += fmt.Sprintf("\n%s of an entry: at most %s", name, value)
		}
	}
	if limits != "" {
		return s.say(said)
	}
	return s.print(said)
}
