package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
)

// versionInfo is the answer of `version --json`.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a changed checkout
	Go      string `json:"go"`
	ABI     int    `json:"abi"` // runs recorded under one number can be resumed by its engines
}

func (c *command) versionVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("usage: agentscript version [--json]", "version takes no argument, and got %q", args[0])
			}
			v := versionOf(c.version)
			if !asJSON {
				return c.print(v.String())
			}
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			return c.print(string(text))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

func (v versionInfo) String() string {
	text := "agentscript " + v.Version
	if v.Commit != "" {
		text += " (" + v.Commit + ")"
	}
	return fmt.Sprintf("%s\n%s, abi %d", text, v.Go, v.ABI)
}

// versionOf completes the version that the linker set with what the build information knows.
func versionOf(linked string) versionInfo {
	v := versionInfo{Version: linked, ABI: engine.ABI}
	info, ok := debug.ReadBuildInfo()
	if ok {
		v.Go = info.GoVersion
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Dirty = s.Value == "true"
			}
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	return v
}

// print writes a result and a line end to stdout.
func (c *command) print(text string) error {
	if _, err := fmt.Fprintln(c.stdout, text); err != nil {
		return c.unwritten(err)
	}
	return nil
}
