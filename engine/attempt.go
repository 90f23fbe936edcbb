package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/model"
)

// Again asks the budgets of a model call for another attempt, after attempts that used so much. It returns the
// limit of the answer of the next one, as MaxOut is that of the first, and reports whether one may be made.
// Where no budget bounds the call any may. In another process than the run's the attempts share what was
// reserved for the first.
func (e *Effect) Again(ctx context.Context, used model.Usage) (maxOut int32, ok bool) {
	if e.MaxOut <= 0 || used.In <= 0 && used.Out <= 0 && used.CostUSD <= 0 {
		return e.MaxOut, true
	}
	if again := flight.AgainOf(ctx); again != nil {
		return again.Again(used)
	}
	// A token read costs no more than one that is written.
	left := int64(e.MaxOut) - int64(max(used.In, 0)) - int64(max(used.Out, 0))
	return int32(max(left, 0)), left > 0
}

// cutShare is the part of its limit that an answer must have used up to be cut off by it: servers stop
// somewhat before it.
const cutShare = 0.9

// CutOff makes an answer that the limit of a budget cut off the error of that budget. Others stay what they are.
func (o *Outcome) CutOff(e *Effect) {
	r := o.Response
	if !e.Short || o.Err != nil || r == nil || r.Finish != model.FinishLength {
		return
	}
	if u := o.Usage; !u.Estimated && float64(u.Out) < cutShare*float64(e.MaxOut) {
		return // the server stopped by itself
	}
	o.Err, o.Response = CutOffBy(int(e.MaxOut)), nil
	o.Err.Raw, o.Err.Usage = r.Text(), o.Usage
}

// CutOffBy returns the error of an answer that was cut off by the limit of a budget.
func CutOffBy(maxOut int) *Error {
	return Errorf(KindBudget, diag.BudgetExceeded, "the answer was cut off at %d tokens, which is what its budget had left for it", maxOut).
		WithHelp("raise the budget, ask for less, or let fewer calls share it at once")
}
