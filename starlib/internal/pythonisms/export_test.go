package pythonisms

import "github.com/agentscript/agentscript/diag"

// Refused returns the findings about constructs that the parser rejects.
func Refused(name, src string) diag.List {
	f := newFile(name, src, 0, nil)
	f.find()
	var l diag.List
	for _, x := range f.findings {
		if !x.parses {
			l.Add(x.d)
		}
	}
	return l
}
