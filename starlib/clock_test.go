package starlib_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// The check knows the result types of the builtins for time and chance, by their arguments.
func TestTypesOfTimeAndChance(t *testing.T) {
	for code, want := range map[string]string{
		`now() + 1`:                       "AS219",
		`now("text") + 1`:                 "AS219",
		`now("unix") + "x"`:               "AS219",
		`now(form = "unix") + "x"`:        "AS219",
		`now(form = "text") + 1`:          "AS219",
		`random() + "x"`:                  "AS219",
		`random(3) + "x"`:                 "AS219",
		`random(n = 3) + "x"`:             "AS219",
		`[1, 2][random()]`:                "AS219",
		`uuid() + 1`:                      "AS219",
		`sleep(1) + 1`:                    "AS219",
		`sleep(-1)`:                       "AS204",
		`sleep("soon")`:                   "AS204",
		`sleep("1h", "2h")`:               "AS205",
		`sleep()`:                         "AS203",
		`sleep(None)`:                     "AS204",
		`random(-3)`:                      "AS204",
		`random(0)`:                       "AS204",
		`random(1.5)`:                     "AS204",
		`random([1, 2])`:                  "AS204",
		`random(1, 6)`:                    "AS205",
		`now("iso")`:                      "AS204",
		`uuid(4)`:                         "AS205",
		`uuid.uuid4()`:                    "AS209",
		`now() + "x"`:                     "",
		`now("unix") + 1`:                 "",
		`now(x) + "x"`:                    "", // it may be either
		`random() + 1`:                    "",
		`[1, 2][random(2)]`:               "",
		`random(n = len("abc")) + 1`:      "",
		`uuid()[:8]`:                      "",
		`sleep(time = "1h30m")`:           "",
		`[sleep(0), sleep(0.5)]`:          "",
		`parallel(sleep, ["1s", 2])`:      "",
		`parallel(uuid, [])`:              "",
		`race([now, uuid])`:               "",
		`sorted([now("unix"), random()])`: "",
	} {
		_, found := load("def main(x = str):\n    return " + code + "\n")
		if got := codes(found); got != want {
			t.Errorf("%s: %q, want %q: %v", code, got, want, found)
		}
	}
}

// While a file loads there is neither time nor chance, and the error says where they are available.
func TestNoTimeWhileLoading(t *testing.T) {
	for _, code := range []string{`sleep("1s")`, `now()`, `random()`, `uuid()`} {
		_, found := load("x = " + code + "\n")
		if codes(found) != "AS210" || !strings.Contains(strings.Join(found[0].Help, ""), "use it in a function that runs: def main") {
			t.Errorf("%s: %v", code, found)
		}
	}
}

// A script may bind the names itself, and they then have that meaning.
func TestNamesOfTimeAndChance(t *testing.T) {
	m := sound(t, `
now = "noon"
random = lambda: 4

def sleep(uuid):
    return uuid

def main(x = str):
    uuid = "id"
    return [now, random(), sleep(3), uuid]
`)
	if out, err := exec(t, m, `{"x": "x"}`, nil); err != nil || generable.JSON(out, nil) != `["noon",4,3,"id"]` {
		t.Errorf("%s, %v", generable.JSON(out, nil), err)
	}
}
