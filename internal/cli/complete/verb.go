// Package complete lets shells complete verbs, flags, their values, files, and names from the script on the line: the
// flags of its main and the names of its agents and nodes.
package complete

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Verb writes the completion script for a shell.
func Verb(root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Generate the completion script for a shell",
		Long: `Completion writes a script to stdout that lets a shell complete the verbs, flags and files of agentscript. SHELL is
bash, zsh, fish or powershell. To load it into the current shell:

  source <(agentscript completion bash)                    # needs the package bash-completion
  source <(agentscript completion zsh)                     # after: autoload -U compinit; compinit
  agentscript completion fish | source
  agentscript completion powershell | Out-String | Invoke-Expression

To load it into every shell, add the same line to the shell's startup file.`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			usage := "usage: " + cmd.CommandPath() + " " + strings.Join(shells, "|")
			if len(args) != 1 {
				return term.Usagef(usage, "completion takes one SHELL, and got %d", len(args))
			}
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(root.OutOrStdout(), true)
			case "zsh":
				return root.GenZshCompletion(root.OutOrStdout())
			case "fish":
				return root.GenFishCompletion(root.OutOrStdout(), true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(root.OutOrStdout())
			}
			return term.Usagef(cmp.Or(diag.DidYouMean(args[0], shells), usage), "there is no completion for %q", args[0])
		},
	}
}
