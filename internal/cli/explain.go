package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

func explainVerb(c *term.Console) *cobra.Command {
	return &cobra.Command{
		Use:               "explain [CODE...]",
		Short:             "Explain a diagnostic code, such as AS301",
		Long:              "Explain describes what a diagnostic means and how to fix it. Without a CODE, it lists all codes.",
		ValidArgsFunction: completeNames(codeNames),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Print(codeList())
			}
			var pages []string
			for _, code := range args {
				e, ok := diag.Lookup(code)
				if !ok {
					return unknownCode(code)
				}
				pages = append(pages, explanation(e, c.TextWidth()))
			}
			return c.Print(strings.Join(pages, "\n\n"))
		},
	}
}

func codeList() string {
	return strings.Join(text.Each(diag.Entries(), func(e diag.Entry) string { return string(e.Code) + "  " + e.Title }), "\n")
}

func unknownCode(code string) error {
	codes := text.Each(diag.Entries(), func(e diag.Entry) string { return string(e.Code) })
	name := strings.ToUpper(code)
	if !strings.HasPrefix(name, "AS") {
		name = "AS" + name
	}
	help := "agentscript explain lists all codes"
	if slices.Contains(builtinNames(), code) {
		help = code + " is a builtin: agentscript doc " + code
	}
	if near, ok := diag.Suggest(name, codes); ok {
		e, _ := diag.Lookup(near)
		help = fmt.Sprintf("did you mean %s (%s)? %s", near, e.Title, help)
	}
	return term.Usagef(help, "there is no code %q", code)
}

func explanation(e diag.Entry, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\n", e.Code, e.Title, wrap(e.Explain, width))
	for _, x := range [...]struct{ head, script string }{{"Refused:", e.Wrong}, {"Accepted:", e.Right}} {
		if x.script == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n\n    %s\n", x.head, strings.ReplaceAll(strings.Trim(x.script, "\n"), "\n", "\n    "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// wrap wraps the paragraphs of a text at width runes, as far as the words allow. Indented lines are kept unchanged.
func wrap(whole string, width int) string {
	blocks := strings.Split(whole, "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, "    ") {
			blocks[i] = wrapParagraph(block, width)
		}
	}
	return strings.Join(blocks, "\n\n")
}

func wrapParagraph(words string, width int) string {
	var b strings.Builder
	col := 0
	for _, word := range strings.Fields(words) {
		n := utf8.RuneCountInString(word)
		switch {
		case col == 0:
		case col+1+n > width:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
