package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/model"
)

// Again asks the budgets of a model call for another attempt, after attempts with the usage used. It returns the
// limit of the next attempt's answer, as MaxOut is that of the first, and reports whether another attempt may be
// made. If no budget bounds the call, it may. In a process other than the run's, the attempts share what was reserved
// for the first.
func (e *Effect) Again(ctx context.Context, used model.Usage) (maxOut int32, ok bool) {
	if e.MaxOut <= 0 || used.In <= 0 && used.Out <= 0 && used.CostUSD <= 0 {
		return e.MaxOut, true
	}
	if again := flight.AgainOf(ctx); again != nil {
		return again.Again(used)
	}
	// Reading a token costs no more than writing one.
	left := int64(e.MaxOut) - int64(max(used.In, 0)) - int64(max(used.Out, 0))
	return int32(max(left, 0)), left > 0
}

// cutShare is the part of its limit that an answer must have used to count as cut off by the limit: servers stop
// slightly before it.
const cutShare = 0.9

// CutOff turns an answer that the limit of a budget cut off into the error of that budget. It does not change others.
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
