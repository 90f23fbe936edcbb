package complete

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// longestLoad bounds how long a script is loaded to complete a word: a person is waiting at the keyboard.
const longestLoad = 80 * time.Millisecond

// completer completes words for one execution of the command.
type completer struct{ c *term.Console }

// Add makes all verbs below a root complete the values of their flags, and their file arguments. The usage of a flag
// determines its values: a FILE, a DIR, a provider/model, or one of a few words.
func Add(c *term.Console, root *cobra.Command) {
	of := &completer{c}
	for _, cmd := range root.Commands() {
		Add(c, cmd)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, of.value(f)) // it fails for a verb that has its own
		})
		switch {
		case cmd.ValidArgsFunction != nil || cmd.ValidArgs != nil || cmd.HasSubCommands():
		case cmd.DisableFlagParsing:
			cmd.ValidArgsFunction = of.run
		default:
			cmd.ValidArgsFunction = of.files
		}
	}
}

// Verbs completes the names of verbs and their subverbs.
func Verbs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if at, _, err := cmd.Root().Find(args); err == nil {
		for _, sub := range at.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name()+"\t"+sub.Short)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// files completes the FILE of a verb.
func (of *completer) files(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	switch {
	case strings.HasPrefix(takes, "ID") && cmd.Parent().Name() == "sessions":
		if len(args) > 0 && !strings.Contains(takes, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of.sessions(cmd, args), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(takes, "PATH"):
		return []string{"star"}, cobra.ShellCompDirectiveFilterFileExt
	case strings.Contains(takes, "NAME"), !strings.Contains(takes, "FILE"), len(args) > 0 && !strings.Contains(takes, "..."):
		return nil, cobra.ShellCompDirectiveNoFileComp
	case cmd.Name() == "decode":
		return nil, cobra.ShellCompDirectiveDefault
	case cmd.Name() == "check":
		return []string{"star", "json", "jsonc"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return []string{"star"}, cobra.ShellCompDirectiveFilterFileExt
}

// extensions are the extensions of the files that flags take.
var extensions = map[string][]string{
	"scripted": {"jsonl"}, "record": {"jsonl"}, "replay": {"jsonl"}, "trace": {"jsonl"},
	"prices": {"json"}, "manifest-against": {"json"},
}

// alternatives matches a usage that lists words: `human`, json or sarif.
var alternatives = lazy.Regexp("^`([a-z]+)`((?:, [a-z]+)*),? or ([a-z]+)(?:$|[;:. ])")

// value completes the value of a flag.
func (of *completer) value(f *pflag.Flag) cobra.CompletionFunc {
	kind, _ := pflag.UnquoteUsage(f)
	words := alternatives().FindStringSubmatch(f.Usage)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case f.Name == "session":
			return of.sessions(cmd, args), cobra.ShellCompDirectiveNoFileComp
		case f.Name == "model":
			if agent, model, one := strings.Cut(typed, "="); one && !strings.Contains(agent, "/") {
				list, directive := of.models(model)
				return text.Each(list, func(model string) string { return agent + "=" + model }), directive
			}
			list, directive := of.models(typed)
			return append(list, of.agents(args, typed)...), directive
		case kind == "provider/model":
			return of.models(typed)
		case f.Name == "progress":
			return []string{"auto", "tree", "plain", "json", "none"}, cobra.ShellCompDirectiveNoFileComp
		case f.Name == "node":
			return of.nodes(args), cobra.ShellCompDirectiveNoFileComp
		case words != nil:
			list := slices.Concat([]string{words[1]}, strings.Split(words[2], ", "), []string{words[3]})
			return slices.DeleteFunc(list, func(w string) bool { return w == "" }), cobra.ShellCompDirectiveNoFileComp
		case strings.HasPrefix(kind, "DIR"):
			return nil, cobra.ShellCompDirectiveFilterDirs
		case kind == "FILE" && extensions[f.Name] != nil:
			return extensions[f.Name], cobra.ShellCompDirectiveFilterFileExt
		case kind == "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// models completes a model: its provider first, and then the models of the table.
func (of *completer) models(typed string) ([]string, cobra.ShellCompDirective) {
	registry, problem := setup.Registry(of.c, "", "")
	if problem != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if !strings.Contains(typed, "/") { // the word does not end at the /
		return text.Each(registry.Providers(), func(p llm.ProviderInfo) string { return p.Name + "/" }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	names := text.Each(registry.Models("*"), func(m llm.ModelInfo) string { return m.Model })
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
}

// agents lists the agents of the script on the line in the form that --model takes, unless a provider is typed.
func (of *completer) agents(args []string, typed string) []string {
	s := of.load(args)
	if s == nil || strings.Contains(typed, "/") {
		return nil
	}
	names := text.Each(setup.AgentsOf(s.Module), func(n *flow.Node) string { return n.Agent().Name + "=" })
	slices.Sort(names)
	return slices.Compact(names)
}

// sessions lists the ids of sessions, from --session-store if that is on the line, each with its script and the time of
// its last write. Ids on the line are not listed again.
func (of *completer) sessions(cmd *cobra.Command, args []string) (ids []string) {
	dir := ""
	if f := cmd.Flags().Lookup("session-store"); f != nil {
		dir = f.Value.String()
	}
	for i, arg := range args { // run parses its flags itself
		if value, ok := strings.CutPrefix(arg, "--session-store="); ok {
			dir = value
		} else if arg == "--session-store" && i+1 < len(args) {
			dir = args[i+1]
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestLoad)
	defer cancel()
	for _, s := range setup.KnownSessions(ctx, of.c, dir) {
		if !slices.Contains(args, s.ID) {
			ids = append(ids, s.ID+"\t"+text.Terminal(s.Script)+", "+s.Updated.Format(time.DateTime))
		}
	}
	return ids
}

// nodes lists the nodes of the script on the line.
func (of *completer) nodes(args []string) []string {
	if s := of.load(args); s != nil {
		return s.NodeNames()
	}
	return nil
}

// load loads the script on the line. It returns nil if that takes too long or the script has errors.
func (of *completer) load(args []string) *setup.Script {
	i := slices.IndexFunc(args, func(arg string) bool { return strings.HasSuffix(arg, ".star") })
	if i < 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestLoad)
	defer cancel()
	of.c.Reloaded = true // what the script prints must not reach the shell
	s, err := setup.Load(of.c, ctx, args[i], "", agentscript.WithUngranted(), agentscript.WithLoadTimeout(longestLoad))
	if err != nil {
		return nil
	}
	return s
}

// run completes the arguments of run, which parses its flags itself: its own, and those of the script's main.
func (of *completer) run(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	flag, value, inOne := strings.Cut(typed, "=")
	if inOne = inOne && strings.HasPrefix(flag, "--"); !inOne && len(args) > 0 {
		flag, value = args[len(args)-1], typed
	}
	if name, ok := strings.CutPrefix(flag, "--"); ok {
		if list, directive, is := of.runValue(cmd, args, name, value, inOne); is {
			return list, directive
		}
	}
	file, _, err := setup.SplitAtFile(new(setup.RunFlags).Flags(), args)
	switch {
	case err != nil:
		return nil, cobra.ShellCompDirectiveDefault
	case strings.HasPrefix(typed, "-") && file != "":
		ctx, cancel := context.WithTimeout(context.Background(), longestLoad)
		defer cancel()
		return text.Each(setup.GuessParams(of.c, ctx, file), func(name string) string { return "--" + name }), cobra.ShellCompDirectiveNoFileComp
	case file == "":
		return []string{"star"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// runValue completes the value of a flag of run or of the script's main. A flag that takes no value has none.
func (of *completer) runValue(cmd *cobra.Command, args []string, name, typed string, inOne bool) ([]string, cobra.ShellCompDirective, bool) {
	if s := of.load(args); s != nil {
		if values, ok := s.ParamValues(name, inOne); ok {
			return values, cobra.ShellCompDirectiveNoFileComp, len(values) > 0
		}
	}
	f := cmd.Flags().Lookup(name)
	if f == nil || f.NoOptDefVal != "" && !inOne {
		return nil, 0, false
	}
	complete, ok := cmd.GetFlagCompletionFunc(name)
	if !ok {
		return nil, 0, false
	}
	list, directive := complete(cmd, args, typed)
	return list, directive, true
}
