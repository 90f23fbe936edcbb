// Package agents has the builtins that make agents and their parts: skills, tools, servers, budgets, policies, hooks,
// memories and the handling of failed calls.
package agents
