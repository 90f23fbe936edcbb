package command

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/agentscript/agentscript/engine"
)

// Version describes the build of a command: the answer of `version --json`.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a modified checkout
	Go      string `json:"go"`
	ABI     int    `json:"abi"` // engines with the same number can resume each other's recorded runs
}

// VersionOf adds what the build information knows to the version that the linker set.
func VersionOf(linked string) Version {
	v := Version{Version: linked, ABI: engine.ABI}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Go, v.Version = info.GoVersion, cmp.Or(linked, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Dirty = s.Value == "true"
			}
		}
	}
	v.Version = cmp.Or(v.Version, "(devel)")
	return v
}

func (v Version) String() string {
	text := "agentscript " + v.Version
	if v.Commit != "" {
		text += " (" + v.Commit + ")"
	}
	return fmt.Sprintf("%s\n%s, abi %d", text, v.Go, v.ABI)
}
