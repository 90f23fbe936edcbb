package data

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func scriptRows() []table.Builtin {
	args := table.Param{Name: "args", Kind: table.AnyKind, Shape: table.Variadic, Doc: "values"}
	sep := table.Opt("sep", table.StrKind, `" "`, "the text between the values")
	return []table.Builtin{
		{Name: "print", Group: table.GroupScript, Returns: "None", Effect: table.Logs, Params: []table.Param{args, sep}, Func: printFunc,
			Doc: "Writes values to the log of the run, with the position of the node. While the script loads, they are written to the output for messages."},
		{Name: "fail", Group: table.GroupScript, Returns: "None", Effect: table.Pure, Params: []table.Param{args, sep}, Func: failFunc,
			Doc: "Ends the run, or the loading of the script, with an error."},
		{Name: "file", Group: table.GroupScript, Returns: "str", Effect: table.Reads, Params: []table.Param{{Name: "path", Kind: table.Naming(table.StrKind, table.FilePath), Doc: "the path, relative to the file that names it"}}, Whole: true, Func: fileFunc,
			Doc: "Returns the text of a file in the script's directory or below. The file is read while the script loads and is part of the script's hash."},
		{Name: "help", Group: table.GroupScript, Returns: "None", Effect: table.Logs, Params: []table.Param{{Name: "about", Kind: table.AnyKind, Default: "None", Doc: "a builtin, a type, a node, a function, or the name of a builtin"}}, Func: helpFunc,
			Doc: "Prints what a value is and how to use it. Without an argument, it lists all builtins."},
	}
}

// joined returns the text that print and fail write.
func joined(c *table.Call) (string, error) {
	var words []string
	for _, v := range c.Rest() {
		word, err := value.PlainText(v)
		if err != nil {
			return "", err
		}
		words = append(words, word)
	}
	return strings.Join(words, c.StrOr("sep", " ")), nil
}

func printFunc(c *table.Call) (starlark.Value, error) {
	text, err := joined(c)
	if err != nil {
		return nil, err
	}
	c.Thread().Print(c.Thread(), text)
	return starlark.None, nil
}

// failFunc fails with the given text. The caller of the function sets the error's code: a node, the run, or the loading
// of the file.
func failFunc(c *table.Call) (starlark.Value, error) {
	text, err := joined(c)
	if err != nil {
		return nil, err
	}
	if text != "" {
		return nil, errors.New(text)
	}
	return nil, errors.New("fail() was called")
}

func helpFunc(c *table.Call) (starlark.Value, error) {
	c.Thread().Print(c.Thread(), doc.Help(c.Row.Table, c.Arg("about")))
	return starlark.None, nil
}

// fileFunc returns the text of a file that belongs to the script.
func fileFunc(c *table.Call) (starlark.Value, error) {
	at := c.ArgSpan("path")
	text, ok, err := c.ReadFile(c.Str("path"), at)
	if !ok {
		return nil, err
	}
	if !utf8.ValidString(text) {
		c.Problemf(diag.WrongValue, at, "%s is not UTF-8 text", c.Str("path"))
		return nil, nil
	}
	return starlark.String(c.State.Disk.Text(text)), nil
}
