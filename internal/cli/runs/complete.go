package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	longestLook = 80 * time.Millisecond // somebody waits at the keyboard
	longestAsk  = time.Second           // a server must be reached first
	offered     = 50
)

// complete completes the RUN of a verb.
func (v *verbs) complete(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && !strings.Contains(cmd.Use, "RUN...") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	store := v.store
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--store="); ok {
			store = value
		} else if arg == "--store" && i+1 < len(args) {
			store = args[i+1]
		}
	}
	longest := longestLook
	if v.from != nil {
		longest = longestAsk
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	s, _, err := v.at(ctx, store)
	if s == nil || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close() // it was only read
	all, err := s.Runs(ctx, engine.RunFilter{Prefix: typed, Limit: offered})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, r := range all {
		if !slices.Contains(args, r.ID) {
			ids = append(ids, r.ID+"\t"+statusOf(r)+", "+text.Visible(r.Script)+", "+r.Begun.Local().Format(time.DateTime))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
