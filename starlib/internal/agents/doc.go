// Package agents has the builtins that make agents and their parts: skills, tools, servers,
// budgets, policies, hooks, memories and what is done about calls that fail.
package agents
