package value

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Predicate is a condition as data. It is callable, so that code can test it too.
type Predicate struct {
	Plain
	Pred *predicate.Predicate
}

func (p *Predicate) String() string { return p.Pred.String() }

func (p *Predicate) Type() string { return "predicate" }

func (p *Predicate) Name() string { return p.Pred.String() }

func (p *Predicate) Hash() (uint32, error) { return starlark.String(p.String()).Hash() }

// MostTests bounds the tests of a condition: one that is combined with itself doubles each time.
const MostTests = 1000

// Binary combines two conditions: p & q, p | q.
func (p *Predicate) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	y = Unwrapped(y)
	q, ok := y.(*Predicate)
	if op != syntax.AMP && op != syntax.PIPE {
		return nil, nil
	}
	if !ok {
		return nil, script.Errorf(diag.BadCondition, "a condition combines with another one, not with %s", Describe(y)).
			WithHelp(`ge(80) & lt(90), eq("kind", "a") | eq("kind", "b")`)
	}
	a, b := p.Pred, q.Pred
	if a.Size()+b.Size() > MostTests {
		return nil, script.Errorf(diag.BadCondition, "a condition combines at most %d tests", MostTests).
			WithHelp("use a function: when(lambda v: v in names, ...)")
	}
	if side == starlark.Right {
		a, b = b, a
	}
	if op == syntax.AMP {
		return &Predicate{Pred: a.And(b)}, nil
	}
	return &Predicate{Pred: a.Or(b)}, nil
}

// Unary negates a condition: ~p.
func (p *Predicate) Unary(op syntax.Token) (starlark.Value, error) {
	if op != syntax.TILDE {
		return nil, nil
	}
	return &Predicate{Pred: p.Pred.Not()}, nil
}

// CallInternal tests a value: ge(80)(x).
func (p *Predicate) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 || len(kwargs) > 0 {
		err := script.Errorf(diag.WrongArgument, "a condition tests one value: %s(x)", p.Pred)
		if len(args)+len(kwargs) == 0 {
			return nil, err.WithHelp("write %s: as a condition it is not called", p.Pred)
		}
		return nil, err
	}
	v, err := ToData(args[0])
	if err != nil {
		return nil, err
	}
	return starlark.Bool(p.Pred.Holds(v)), nil
}
