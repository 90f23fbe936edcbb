package main

import "testing"

// The generated pages are those of the tables in the code.
func TestPagesAreFresh(t *testing.T) {
	if err := run("../../../docs", true); err != nil {
		t.Error(err)
	}
}
