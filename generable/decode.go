package generable

// Result is what a text came to.
type Result struct {
	Value   Value       // meaningful when OK
	OK      bool        // the value fits the type
	Repairs []Repair    // all that was changed to get there, in order of discovery
	Errors  FieldErrors // why there is no value
	Partial Value       // without a value: what of it fits, as [Machine.Snapshot] shows it; else null
	Cost    int         // of all repairs
	Visits  int         // bytes looked at; stays within a small multiple of the text's length
}

// Decode reads a value of type t from a model's answer. The value may stand in fences, in
// prose or behind reasoning, and be broken in the ways models break JSON; what is valid JSON
// is read exactly. A nil t accepts any value.
//
// Decode never panics, and takes time and memory linear in the text.
func Decode(t *Type, text string, o Options) Result {
	s := scratches.Get().(*scratch)
	r := s.decode(t, text, o)
	s.clear()
	scratches.Put(s)
	return r
}
