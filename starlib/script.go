package starlib

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"
)

func scriptRows() []Builtin {
	args := Param{Name: "args", Kind: AnyKind, Shape: Variadic, Doc: "values"}
	sep := Param{Name: "sep", Kind: StrKind, Shape: KeywordOnly, Default: `" "`, Doc: "what stands between them"}
	return []Builtin{
		{Name: "print", Group: GroupScript, Returns: "None", Effect: Logs, Params: []Param{args, sep}, Func: printFunc,
			Doc: "Writes values to the log of the run, with the position of the node; while loading, to the output for messages."},
		{Name: "fail", Group: GroupScript, Returns: "None", Effect: Pure, Params: []Param{args, sep}, Func: failFunc,
			Doc: "Ends the run, or the loading, with an error."},
		{Name: "file", Group: GroupScript, Returns: "str", Effect: Reads, Params: []Param{{Name: "path", Kind: StrKind, Doc: "relative to the file that names it"}}, Func: fileFunc,
			Doc: "Gives the text of a file beside the script or below. It is read while the script loads and belongs to its hash."},
		{Name: "help", Group: GroupScript, Returns: "None", Effect: Logs, Params: []Param{{Name: "about", Kind: AnyKind, Default: "None", Doc: "a builtin, a type, a node, a function, or the name of a builtin"}}, Func: helpFunc,
			Doc: "Prints what a value is and how it is used; without an argument, all builtins."},
	}
}

func (c *Call) text() (string, error) {
	sep := " "
	if c.Has("sep") {
		sep = c.Str("sep")
	}
	var b strings.Builder
	for i, v := range c.Rest() {
		if i > 0 {
			b.WriteString(sep)
		}
		text, err := plain(v)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func printFunc(c *Call) (starlark.Value, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	c.Thread().Print(c.Thread(), text)
	return starlark.None, nil
}

// failFunc raises the text as it is. The error gets its code from who called the function:
// a node, the run, or the loading of the file.
func failFunc(c *Call) (starlark.Value, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	if text != "" {
		return nil, errors.New(text)
	}
	return nil, errors.New("fail() was called")
}

func helpFunc(c *Call) (starlark.Value, error) {
	c.Thread().Print(c.Thread(), c.row.table.Help(c.Arg("about")))
	return starlark.None, nil
}
