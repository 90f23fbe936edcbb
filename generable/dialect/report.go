package dialect

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// TargetReport is what one target makes of a type.
type TargetReport struct {
	Target string
	Wire   *Wire // nil when Err is set
	Err    error // why the type has no form there: [*TooLarge], or what Compile says
}

// Reports is what the targets make of a type, in the order of [Targets].
type Reports []TargetReport

// Report compiles a type for every target.
func Report(t *generable.Type) Reports {
	out := make(Reports, len(rules))
	for i := range rules {
		w, err := compileUnder(t, rules[i])
		out[i] = TargetReport{Target: rules[i].Target, Wire: w, Err: err}
	}
	return out
}

// Only are the reports of one target.
func (r Reports) Only(target string) Reports {
	for i := range r {
		if r[i].Target == target {
			return r[i : i+1]
		}
	}
	return nil
}

// String gives a paragraph for each target: what its schema uses of the budgets that it has,
// and what is written otherwise. Targets that take the type in the same way share one.
func (r Reports) String() string {
	var b strings.Builder
	told := make(map[string]bool)
	for i := range r {
		text := r[i].body()
		if told[text] {
			continue
		}
		told[text] = true
		var names []string
		for k := i; k < len(r); k++ {
			if r[k].body() == text {
				names = append(names, r[k].Target)
			}
		}
		b.WriteString(strings.Join(names, ", ") + ": " + text + "\n")
	}
	return b.String()
}

func (r *TargetReport) body() string {
	if r.Err != nil {
		return "refused: " + r.Err.Error()
	}
	var uses []string
	for _, u := range r.Wire.Budget {
		if u.Used > 0 {
			uses = append(uses, u.String())
		}
	}
	text := strings.Join(uses, ", ")
	for _, w := range r.Wire.Rewrites {
		text += "\n  " + w.String()
	}
	return text
}

// String gives "dict-as-pairs at .by_file: dict[str, int] → [{"key": …, "value": …}]".
func (w Rewrite) String() string {
	at := ""
	if w.Path != "" {
		at = " at " + strings.TrimPrefix(w.Path, ".")
	}
	return w.Kind + at + ": " + w.Before + " → " + w.After
}
