package setup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// FlagFailure rewords an error of the flags package, with the flag of the verb that was probably meant.
func FlagFailure(err error, verb string, flags *pflag.FlagSet) *term.Failure {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = short[:1]
			help := "an argument that begins with - comes after --"
			if meant := meantBy(name, flags); meant != "" {
				help = meant + "; " + help
			}
			return term.Usagef(help, "there is no flag -%s", name)
		}
		return term.Usagef(cmp.Or(meantBy(name, flags), nearest(name, verb, flags)), "there is no flag --%s", name)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return term.Usagef(valueHelp(wrong), "--%s: %s", wrong.GetFlag().Name, valueProblem(wrong))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return term.Usagef(usageOf(bare.GetFlag()), "--%s needs a value", bare.GetFlag().Name)
	}
	return term.Usagef("", "%v", err)
}

// otherNames maps flags of other programs to a flag, or to a sentence that says what to use instead.
var otherNames = sync.OnceValue(func() map[string]map[string]string {
	return text.Synonyms(`
flag: i input in stdin prompt message question = input-file
flag: o out output-file out-file result save = output
flag: m llm = model
flag: debug trace-level log-level = verbose
flag: log log-file = trace
flag: silent no-progress = quiet
flag: cost budget max-cost max-price limit = max-usd
flag: max-turns max-calls max-iterations max-requests = max-model-calls
flag: auto-approve approve-all no-confirm force = yes
flag: env dotenv api-key key token = env-file
flag: offline answers fixtures fake mock = scripted
flag: cassette vcr = replay
flag: cwd dir workdir include = root
flag: jsonl ndjson events format = json
flag: conversation chat thread = session
flag: retry = retries
flag: concurrency parallel jobs workers = max-in-flight
flag: net network host = allow-net
flag: exec shell command = allow-exec
flag: fs files mount volume = allow-fs
flag: proxy http-proxy https-proxy = net-proxy
say: dry-run dryrun plan no-op noop validate lint = agentscript check FILE judges a script without running it
say: temperature top-p max-output-tokens seed stop = settings of a model belong in the script: agent(temperature = 0.2)
say: color no-color colour = NO_COLOR=1 in the environment turns colours off
say: allow-all allow allow-read allow-write allow-run grant grant-all permissions = --allow-exec CMD, --allow-net HOST, --allow-fs DIR[:rw] and --allow-env NAME grant one use each; agentscript check FILE lists those a script needs
`)
})

// meantBy says which flag another program's flag means, or returns "" if it means none of the set.
func meantBy(name string, flags *pflag.FlagSet) string {
	name = strings.ToLower(name)
	if name == "input" && flags.Lookup("input-file") != nil {
		return "did you mean --input-file? An input that is not in a file is an argument: agentscript run FILE INPUT"
	}
	for _, flag := range []string{"format", "report"} {
		if name == "json" && flags.Lookup(flag) != nil {
			return "did you mean --" + flag + " json?"
		}
	}
	if meant := otherNames()["flag"][name]; meant != "" && flags.Lookup(meant) != nil {
		return "did you mean --" + meant + "?"
	}
	if name == "version" || len(name) == 1 {
		return ""
	}
	return otherNames()["say"][name]
}

// nearest names the one or two flags of the set that are most similar to a name, and where all flags are listed.
func nearest(name, verb string, flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := diag.Suggest(name, names); ok {
		return "did you mean --" + near + "?"
	}
	var alike []string
	for _, word := range strings.Split(name, "-") {
		for _, n := range names {
			if len(word) > 2 && slices.Contains(strings.Split(n, "-"), word) && !slices.Contains(alike, "--"+n) {
				alike = append(alike, "--"+n)
			}
		}
	}
	all := verb + " --help lists the flags"
	if len(alike) == 0 || len(alike) > 2 {
		return all
	}
	return "did you mean " + strings.Join(alike, " or ") + "? " + all
}

// usageOf returns a flag with its value and meaning, or "" if the flag has no usage.
func usageOf(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	if usage == "" {
		return ""
	}
	return strings.TrimRight("--"+f.Name+" "+value, " ") + ": " + usage
}

// valueHelp says what to write for a value that a flag does not accept.
func valueHelp(err *pflag.InvalidValueError) string {
	f, value := err.GetFlag(), err.GetValue()
	if _, wrong := strconv.ParseFloat(value, 64); f.Value.Type() == "duration" && wrong == nil {
		return fmt.Sprintf("a duration has a unit: --%s %ss, or %[2]sm for minutes", f.Name, value)
	}
	return usageOf(f)
}

// wanted says what flags of each type accept, those of the command and of scripts.
var wanted = map[string]string{
	"bool":     "true or false",
	"duration": "a duration such as 90s or 2m",
	"float":    "a number such as 0.5",
	"float64":  "a number such as 0.5",
	"int":      "a whole number such as 10",
	"int64":    "a whole number such as 10",
	"uint64":   "a whole number such as 10",
	"uint16":   "a whole number such as 8080",
}

// valueProblem prefers the messages of our own flag types to those of number parsing.
func valueProblem(err *pflag.InvalidValueError) string {
	if own, ok := errors.AsType[*FlagError](err); ok {
		return own.Text
	}
	typ := err.GetFlag().Value.Type()
	problem := fmt.Sprintf("want %s, got %q", cmp.Or(wanted[typ], typ), err.GetValue())
	if errors.Is(err, strconv.ErrRange) {
		problem += ", which is out of range"
	}
	return problem
}

// FlagError is a problem with a flag's value, in our own words.
type FlagError struct{ Text string }

func (e *FlagError) Error() string { return e.Text }

// runVerb is the verb that parses its flags itself.
const runVerb = "agentscript run"

// SplitAtFile parses the flags before FILE and returns FILE and what follows it. Before FILE there can only be flags of
// the verb, since only the script knows its own.
func SplitAtFile(own *pflag.FlagSet, args []string) (file string, rest []string, err error) {
	own.SetInterspersed(false)
	defer own.SetInterspersed(true)
	if err := own.Parse(args); err != nil {
		f := FlagFailure(err, runVerb, own)
		if _, ok := errors.AsType[*pflag.NotExistError](err); ok {
			f.Found[0].Notes = append(f.Found[0].Notes, diag.Note{Message: "flags of a script come after its FILE"})
		}
		return "", nil, f
	}
	if own.NArg() == 0 {
		return "", nil, nil
	}
	return own.Arg(0), own.Args()[1:], nil
}

// ParseAll parses what follows FILE: the script's flags, and those of the verb that the script does not define itself.
// It returns the arguments that are not flags.
func ParseAll(own *pflag.FlagSet, s *Script, params []*Param, rest []string) ([]string, *term.Failure) {
	all := pflag.NewFlagSet("run", pflag.ContinueOnError)
	all.Usage = func() {}
	all.SetNormalizeFunc(dashed)
	for _, p := range params {
		p.addTo(all)
	}
	own.VisitAll(func(f *pflag.Flag) {
		if all.Lookup(f.Name) == nil {
			shared := *f // values are shared, so that both sets see which flags were given
			if f.Shorthand != "" && all.ShorthandLookup(f.Shorthand) != nil {
				shared.Shorthand = ""
			}
			all.AddFlag(&shared)
		}
	})
	if err := all.Parse(rest); err != nil {
		f := FlagFailure(err, runVerb, all)
		if _, ok := errors.AsType[*pflag.NotExistError](err); ok && !strings.HasPrefix(strings.Join(f.Found[0].Help, ""), "did you mean") {
			f.Found[0].Notes = append(f.Found[0].Notes, s.takes(params)...)
		}
		return nil, f
	}
	all.Visit(func(f *pflag.Flag) {
		if mine := own.Lookup(f.Name); mine != nil && !IsParam(params, f.Name) {
			mine.Changed = true
		}
	})
	return all.Args(), nil
}

// takes notes what the script accepts on the command line.
func (s *Script) takes(params []*Param) []diag.Note {
	says := ""
	switch n := s.MainNode(); {
	case s.isFlow():
		says = fmt.Sprintf("%s takes one text: agentscript run %[1]s INPUT", s.File)
	case n != nil:
		says = fmt.Sprintf("main of %s takes one input of type %s, and no flags: agentscript run %[1]s INPUT", s.File, n.In())
	case len(params) > 0:
		says = fmt.Sprintf("the flags of %s are %s", s.File, strings.Join(text.Each(params, func(p *Param) string { return "--" + p.flag() }), ", "))
	case s.MainEntry != nil:
		says = fmt.Sprintf("main of %s has no parameters", s.File)
	default:
		return nil
	}
	return []diag.Note{{Message: says}}
}

// dashed allows a flag to be written like the parameter: --max_tries for --max-tries.
func dashed(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// Unhidden returns the flags of the verb that no parameter of the script hides.
func Unhidden(own *pflag.FlagSet, params []*Param) *pflag.FlagSet {
	return Without(own, text.Each(params, (*Param).flag)...)
}

// Without returns the flags of a set except the given ones.
func Without(set *pflag.FlagSet, names ...string) *pflag.FlagSet {
	left := pflag.NewFlagSet("run", pflag.ContinueOnError)
	left.Usage = func() {}
	left.SortFlags = false
	set.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			left.AddFlag(f)
		}
	})
	return left
}

// AnyGiven reports whether a parameter was given by its flag.
func AnyGiven(params []*Param) bool {
	return slices.ContainsFunc(params, func(p *Param) bool { return p.given })
}

func IsParam(params []*Param, flag string) bool {
	return slices.ContainsFunc(params, func(p *Param) bool { return p.flag() == flag })
}
