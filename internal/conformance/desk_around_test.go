package conformance

import "testing"

// Promise 27.60 (desk): on a terminal a run is a live tree: two levels, running, failed and waiting nodes always
// shown, siblings folded, each line with model, tokens, cost and time; elsewhere a line per event.
func TestPromise_27_60_Tree(t *testing.T) { t.Skip("not built: around") }

// Promise 27.61 (desk): the tree never exceeds the screen, redraws at most 20 times a second, and leaves at most 20
// lines behind.
func TestPromise_27_61_Frames(t *testing.T) { t.Skip("not built: around") }

// Promise 27.62 (desk): resizing, wide characters, prints of the script and questions to people do not tear the tree.
func TestPromise_27_62_Screens(t *testing.T) { t.Skip("not built: around") }

// Promise 27.63 (desk): keys expand nodes and pause; Ctrl-C once cancels with a summary, twice leaves.
func TestPromise_27_63_Keys(t *testing.T) { t.Skip("not built: around") }

// Promise 27.64 (desk): `agentscript new NAME` makes projects that check, format, test and run offline; it never
// overwrites and asks nothing without a terminal.
func TestPromise_27_64_New(t *testing.T) { t.Skip("not built: around") }

// Promise 27.65 (desk): shells complete verbs, flags, values and the flags of a script's main.
func TestPromise_27_65_Completion(t *testing.T) { t.Skip("not built: around") }

// Promise 27.66 (desk): `run --watch` and `check --watch` run again when a file of the bundle changes, with unchanged
// effects answered from before, and no `once` effect again without a key press.
func TestPromise_27_66_Watching(t *testing.T) { t.Skip("not built: around") }

// Promise 27.67 (desk): `agentscript.toml` sets defaults and can only make policy stricter; unknown keys are errors
// with a suggestion; `agentscript config` prints each value and where it came from.
func TestPromise_27_67_Config(t *testing.T) { t.Skip("not built: around") }
