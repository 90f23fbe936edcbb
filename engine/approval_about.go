package engine

import "github.com/agentscript/agentscript/generable"

// AskAbout is a question of something that runs for an agent, a server of tools say, with data of a
// type that a person may change: nil takes any.
func AskAbout(agent, question string, data generable.Value, t *generable.Type) *ApprovalRequest {
	return &ApprovalRequest{Agent: agent, Question: question, Data: data, typ: t}
}
