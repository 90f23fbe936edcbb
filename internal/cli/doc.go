// Package cli holds the verbs of agentscript. [Main] is the whole command. Another command with the same flags, output
// and exit codes calls [Execute] with its own verbs, and builds them from the packages setup and term.
package cli
