package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// remedy says what a reader of the error can do about it.
func (p *Plan) remedy(f *failure) string {
	switch f.kind {
	case engine.KindAuth:
		if p.Hints.KeyEnv == "" {
			return "the server at " + p.Origin + " wants credentials: check for a proxy in front of it"
		}
		return fmt.Sprintf("check that %s holds a valid key and that its account may use %s", p.Hints.KeyEnv, p.Model)
	case engine.KindRateLimit:
		if f.wait > 0 {
			return fmt.Sprintf("wait %s, or run fewer branches at once with limit=", f.wait.Round(time.Millisecond))
		}
		return "wait a little, or run fewer branches at once with limit="
	case engine.KindQuota:
		return "the account's quota or credit is used up: check its plan and billing"
	case engine.KindContextLength:
		if p.Hints.Local {
			return "send less input, or configure a larger window on the server (for Ollama: OLLAMA_CONTEXT_LENGTH)"
		}
		return "send less input, or use a model with a larger context window"
	case engine.KindRefused:
		return "reword the prompt or the input, or take the refusal with attempt in def main"
	case engine.KindNotFound:
		if p.Hints.Local {
			return "fetch the model first: ollama pull " + p.Model
		}
		return "check the model's id" + p.orBase() + ", and that the account may use it"
	case engine.KindUnsupported:
		switch {
		case strings.HasPrefix(f.param, "response_format"), strings.HasPrefix(f.param, "output_config.format"), f.param == "format":
			return `use structured = "guided" with this model`
		case f.param != "":
			return fmt.Sprintf("leave out %s for this model", f.param)
		}
		return "leave out what this model does not take, or use another model"
	case engine.KindOverloaded, engine.KindServer:
		return "try again later, or use another model"
	case engine.KindNetwork:
		if p.Hints.Local {
			return "is the server running? for Ollama: ollama serve, or point " + p.Hints.BaseEnv + " at it"
		}
		return "check the network" + p.orBase()
	case engine.KindTimeout:
		return "try again, or allow more time"
	case engine.KindTruncated:
		return "try again"
	case engine.KindBadResponse:
		if p.Hints.BaseEnv != "" {
			return fmt.Sprintf("check that %s is the right server; %s names another", p.Origin, p.Hints.BaseEnv)
		}
		return "check that " + p.Origin + " is the right server"
	case engine.KindBadRequest:
		return "the provider's own words say what it objects to"
	}
	return ""
}

func (p *Plan) orBase() string {
	if p.Hints.BaseEnv == "" {
		return ""
	}
	return " and " + p.Hints.BaseEnv
}
