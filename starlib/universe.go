package starlib

import (
	"slices"
	"sync"
)

// rows are all rows of the language, by topic. Within a group the reference shows them in this order.
func rows() []Builtin {
	return slices.Concat(dataRows(), agentsRows(), composeAllRows())
}

// standard is the table of the language alone. It is made once, since it is half of what
// loading a short script costs.
var standard = sync.OnceValue(func() *Table { return newTable(rows()).withForms(callForms()) })

// Universe returns the table of the language, with the host's own builtins at its end.
func Universe(host ...Builtin) *Table {
	if len(host) == 0 {
		return standard()
	}
	host = slices.Clone(host)
	for i := range host {
		if host[i].Group == "" {
			host[i].Group = GroupHost
		}
	}
	return newTable(rows(), host).withForms(callForms())
}
