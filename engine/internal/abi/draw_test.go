package abi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// The recipe is fixed: a resumed run draws the same values.
func TestDrawRecipe(t *testing.T) {
	for _, tt := range []struct {
		seed  uint64
		path  string
		uuid  string
		float float64
		below uint64
	}{
		{0, "main/uuid0", "ba8055ce-4d59-4c39-a781-3228ceb90019", 0.7285207394282674, 841},
		{7, "main/uuid0", "dd13466f-9a0d-4135-9f51-fc1c8d571c1f", 0.8635753653016338, 335},
		{7, "main/parallel0[3]/random1", "1741ed0d-1e4a-4e34-a226-07484f770d39", 0.09084970064422071, 801},
	} {
		d := abi.DrawAt(tt.seed, tt.path)
		if d.UUID() != tt.uuid || d.Float() != tt.float || d.Below(1000) != tt.below {
			t.Errorf("%d at %s: %q, %v, %d", tt.seed, tt.path, d.UUID(), d.Float(), d.Below(1000))
		}
	}
	if got := abi.SeedOf("order-17"); got != 6971485839106109742 || abi.Version != 1 {
		t.Errorf("the seed is %d", got)
	}
}

// Different positions and seeds have different draws, whatever they have in common.
func TestDrawsDiffer(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for seed := range uint64(20) {
		for n := range 20 {
			id := abi.DrawAt(seed, "main/"+strings.Repeat("x", n)).UUID()
			if seen[id] || !form.MatchString(id) {
				t.Errorf("seed %d, %d: %q", seed, n, id)
			}
			seen[id] = true
		}
	}
}

// Numbers are in their range and evenly distributed.
func TestDrawSpread(t *testing.T) {
	const rounds = 60000
	var tenths, sixths [10]int
	for seed := range uint64(rounds) {
		d := abi.DrawAt(seed, "main/random0")
		f, n := d.Float(), d.Below(6)
		if !(f >= 0 && f < 1) || n >= 6 || d.Below(1) != 0 {
			t.Fatalf("seed %d: %v, %d", seed, f, n)
		}
		tenths[int(f*10)]++
		sixths[n]++
	}
	for i := range 10 {
		if want := rounds / 10; tenths[i] < want*9/10 || tenths[i] > want*11/10 {
			t.Errorf("tenth %d was drawn %d times, want about %d", i, tenths[i], want)
		}
		if want := rounds / 6; i < 6 && (sixths[i] < want*9/10 || sixths[i] > want*11/10) {
			t.Errorf("%d was drawn %d times, want about %d", i, sixths[i], want)
		}
	}
	if top := (abi.Draw{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff, 4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff}).Float(); top >= 1 {
		t.Errorf("the largest draw is %v", top)
	}
}
