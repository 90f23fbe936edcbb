package flowjson

import "github.com/agentscript/agentscript/flowjson/internal/spec"

// Schema returns the JSON Schema of the format, draft 2020-12: name it in an editor, or in a file's "$schema".
func Schema() []byte { return spec.Schema() }
