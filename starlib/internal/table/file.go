package table

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// ReadFile returns the content of a file, which from then on belongs to the script. If ok is false, the file could not
// be read; that was reported or is the error.
func (c *Call) ReadFile(name string, at diag.Span) (content string, ok bool, err error) {
	c.Locate()
	from := c.State.ByName[c.Pos.Filename()]
	if from == nil {
		return "", false, script.Errorf(diag.ScriptError, "%s is called from outside of a script's file", c.Row.Name)
	}
	p, bad := c.State.Resolve(from, name, at)
	if bad != nil {
		c.Problems = append(c.Problems, bad)
		return "", false, nil
	}
	if text, ok := c.State.Files[p]; ok {
		return text, true, nil
	}
	if c.Running() {
		return "", false, script.Errorf(diag.FileMissing, "%s(%q) is read for the first time while the flow runs", c.Row.Name, name).
			WithHelp("read it at the top level, so that it belongs to the script: text = %s(%q)", c.Row.Name, name)
	}
	data, err := c.State.Read(p)
	if err != nil {
		d := c.Problemf(diag.FileMissing, at, "cannot read %s: %s", name, script.ReadReason(err))
		d.Cause = err
		d.Help = c.State.ReadHelp(p, err)
		return "", false, nil
	}
	c.State.Files[p] = string(data)
	return string(data), true, nil
}
