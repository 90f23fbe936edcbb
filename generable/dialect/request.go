package dialect

// Request counts what the schemas of one request use of the budgets that its target keeps for all
// of them together: how many tools are held to schemas, and how many optional properties and
// unions there are in them and in the schema of the answer. Targets without such budgets take
// any number.
type Request struct{ left, all Limits }

// NewRequest returns the budgets of a request to a target, all unused.
func NewRequest(target string) (*Request, error) {
	r, err := RulesOf(target)
	if err != nil {
		return nil, err
	}
	return &Request{left: r.Limits, all: r.Limits}, nil
}

// Answer takes the schema of the answer into the request. It is the first: by itself it fits.
func (r *Request) Answer(w *Wire) { r.take(w) }

// Tool takes the schema of a tool into the request, or reports that the budgets do not allow it:
// the tool is then to be sent without being held to its schema.
func (r *Request) Tool(w *Wire) bool {
	if r.all.StrictTools == 0 {
		return true
	}
	if r.left.StrictTools == 0 || w.used(useOptionals) > r.left.Optionals || w.used(useUnions) > r.left.Unions {
		return false
	}
	r.left.StrictTools--
	r.take(w)
	return true
}

func (r *Request) take(w *Wire) {
	r.left.Optionals = max(0, r.left.Optionals-w.used(useOptionals))
	r.left.Unions = max(0, r.left.Unions-w.used(useUnions))
}

func (w *Wire) used(what string) int {
	for _, u := range w.Budget {
		if u.What == what {
			return u.Used
		}
	}
	return 0
}
