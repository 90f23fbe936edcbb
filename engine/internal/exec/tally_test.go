package exec

import (
	"strconv"
	"testing"
)

// TestTally counts few keys and many.
func TestTally(t *testing.T) {
	var got Tally
	want := map[CallKey]int{}
	for i := range 200 {
		key := CallKey{"agent", strconv.Itoa(i * i % 37 % (1 + i/4))}
		if n := got.Count(key); n != want[key] {
			t.Fatalf("step %d: %s was counted %d times, want %d", i, key.Name, n, want[key])
		}
		want[key]++
	}
	if got.many == nil || len(want) <= fewKeys {
		t.Error("there were few keys")
	}
}
