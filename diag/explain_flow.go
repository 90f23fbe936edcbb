package diag

// flowEntries explains AS9xx.
func flowEntries() []Entry {
	return []Entry{
		{FlowAgent, "flow JSON: an agent that is not there", "A transition or a parallel names an agent that the flow does not declare. Names are compared letter by letter; the end of a flow is `__finish__`.", "", ""},
		{FlowTwice, "flow JSON: two agents or tools of one name", "What names an agent or a tool means the first of that name, so the second would never run. Give each a name of its own.", "", ""},
		{FlowUnreached, "flow JSON: an agent that nothing leads to", "A flow begins with the agent that its first transition leaves, and without transitions with the first agent. No transition leads from there to this agent, and no parallel runs it.", "", ""},
		{FlowNoEnd, "flow JSON: a flow that never ends", "From this agent on every transition leads to another agent, round and round. Let one lead to `__finish__`, or to an agent that no transition leaves.", "", ""},
		{FlowDead, "flow JSON: a transition that is never taken", "The first transition of an agent whose condition holds is taken, in the order of the file. Those before this one take all that it would, or its condition never holds. Put it first, or remove it.", "", ""},
		{FlowGap, "flow JSON: values that no transition takes", "The agent may give a value for which none of its conditions holds, and the flow would be stuck there. Add a transition without a condition as the last one. What an agent may give is told by its type, and else by what its conditions compare with.", "", ""},
		{FlowCycle, "flow JSON: a cycle without a bound", "Transitions lead back to an agent, and nothing says how often that may happen. Each turn asks models, so give the first agent a `config` with `maxIterations`.", "", ""},
		{FlowIgnored, "flow JSON: a member that is not read", "The object has no member of this name, so what it says has no effect. It may be misspelled; what is for people goes into `description`.", "", ""},
		{FlowTool, "flow JSON: a tool that nothing offers", "The agent names a tool in `toolNames` that no entry of `tools` offers. Which tools a server has is known when it runs; local tools are known before.", "", ""},
		{FlowKeyTwice, "flow JSON: a name given twice", "An object holds two members of one name, of which the last one counts. Often two objects were meant, such as two conditions.", "", ""},
		{FlowConstant, "flow JSON: a condition that is always the same", "`and` and `or` combine what an agent gives with the value beside them, not with another condition. `and false` never holds and `or true` always does. Use `equals`.", "", ""},
		{FlowCondition, "flow JSON: a condition that cannot hold", "The condition asks for something that the agent does not give: a part that only a verdict has, an order of true and false, a text where numbers come. One output has one kind.", "", ""},
		{FlowModel, "flow JSON: a model of another spelling", "Models are written `provider/model`, and the name goes to the provider as it stands. This one is written as the provider does not.", "", ""},
		{FlowPlaceholder, "flow JSON: a placeholder that nothing fills in", "Texts of a flow are given to models as they stand. What arrives at an agent is given beside its text, so no placeholder is needed.", "", ""},
		{FlowSyntax, "flow JSON: the file is no JSON", "Comments, commas before a closing bracket, names without quotes and a byte order mark are read as they are meant. This is not. All else waits until the file can be read.", "", ""},
		{FlowField, "flow JSON: a member lacks or is of another kind", "The format wants a member that is not there, or one of another kind than it is. The message tells which, and the JSON pointer where.", "", ""},
		{FlowWord, "flow JSON: a word that the format does not have", "Types of agents and tools, operations and transports are words of a fixed list, written as in the list. An operation that is not known makes no condition.", "", ""},
		{FlowNotRun, "flow JSON: a flow is checked, not run", "`agentscript check` reads flows of this format and tells what is wrong with them. Running them is not built in: write the flow as a script, in which `graph(start, [edge(a, b, when = ...)])` says what transitions do.", "", ""},
	}
}
