package possible

type truth uint8

const (
	Maybe truth = iota
	YesTruth
	NoTruth
)

func TruthOf(t bool) truth {
	if t {
		return YesTruth
	}
	return NoTruth
}

// Truth returns the truth value of an alternative.
func (a *Alt) Truth() truth {
	switch a.Kind {
	case None:
		return NoTruth
	case Record, Function:
		return YesTruth
	case Tuple:
		return TruthOf(len(a.Items) > 0)
	case List, Dict, Set:
		if a.Some {
			return YesTruth
		}
	case Boolean, Integer, Float, Text:
		if a.Exact != nil {
			return TruthOf(bool(a.Exact.Truth()))
		}
	}
	return Maybe
}

// Truth returns the truth value of a value if all alternatives agree.
func (v *Value) Truth() truth {
	if v == nil || v.Any || len(v.Alts) == 0 {
		return Maybe
	}
	t := v.Alts[0].Truth()
	for i := range v.Alts {
		if v.Alts[i].Truth() != t {
			return Maybe
		}
	}
	return t
}
