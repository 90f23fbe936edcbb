package engine

import (
	"strconv"
	"testing"
)

// TestTally counts few keys and many.
func TestTally(t *testing.T) {
	var got tally
	want := map[callKey]int{}
	for i := range 200 {
		key := callKey{"agent", strconv.Itoa(i * i % 37 % (1 + i/4))}
		if n := got.count(key); n != want[key] {
			t.Fatalf("step %d: %s was counted %d times, want %d", i, key.name, n, want[key])
		}
		want[key]++
	}
	if got.many == nil || len(want) <= fewKeys {
		t.Error("there were few keys")
	}
}
