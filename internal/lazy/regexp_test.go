package lazy_test

import (
	"testing"

	"github.com/agentscript/agentscript/internal/lazy"
)

func TestRegexp(t *testing.T) {
	word := lazy.Regexp(`^\w+$`)
	if !word().MatchString("word") || word().MatchString("two words") {
		t.Error("the expression does not match as it is written")
	}
	if once, twice := word(), word(); once != twice {
		t.Error("it is compiled twice")
	}
}

func TestRegexpMalformed(t *testing.T) {
	open := lazy.Regexp(`(`) // not compiled yet
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression does not panic")
		}
	}()
	open()
}
