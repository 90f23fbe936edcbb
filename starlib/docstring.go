package starlib

import "strings"

// parseDoc splits a docstring into its text and the descriptions of parameters in its Args
// section:
//
//	Compiles one file.
//
//	Args:
//	  path: file to compile,
//	    relative to the project
//	  flags (list of str): extra flags
//	Returns:
//	  the log
func parseDoc(doc string) (text string, params map[string]string) {
	lines := strings.Split(dedent(doc), "\n")
	var kept []string
	section, indent, last := "", -1, ""
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if depth == 0 {
			switch trimmed {
			case "Args:", "Arguments:", "Parameters:":
				section, indent, last = "args", -1, ""
				continue
			}
			if trimmed != "" {
				section = ""
			}
		}
		if section != "args" {
			kept = append(kept, line)
			continue
		}
		if trimmed == "" {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		name, about, ok := strings.Cut(trimmed, ":")
		if depth > indent && last != "" {
			params[last] += " " + trimmed
			continue
		}
		if !ok {
			continue
		}
		name = strings.TrimLeft(name, "*")
		if i := strings.IndexAny(name, " ("); i >= 0 {
			name = name[:i]
		}
		if params == nil {
			params = map[string]string{}
		}
		params[name], last = strings.TrimSpace(about), name
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), params
}
