package model

// ThoughtsPrompt ends the request that asks a model for its thoughts, in a turn without tools and without an output
// type: see agent.Spec.ReasoningEvery.
const ThoughtsPrompt = "Think before you go on: say in plain words what you think about the task so far, and what the next step is. " +
	"Call no tool now, and do not give the final answer yet."

// ActPrompt follows the thoughts, since providers expect the last message to be the user's.
const ActPrompt = "Go on with that: take the next step, or give the final answer."

// AsksToThink reports whether the message is [ThoughtsPrompt] or [ActPrompt]: it says nothing about the task.
func (m *Message) AsksToThink() bool {
	return m.Role == RoleUser && len(m.Parts) == 1 && (m.Parts[0].Text == ThoughtsPrompt || m.Parts[0].Text == ActPrompt)
}
