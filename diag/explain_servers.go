package diag

// serverEntries explains AS63x: what is wrong with a server before it is reached.
func serverEntries() []Entry {
	return []Entry{
		{BadServer, "this declares no MCP server",
			"An MCP server is a command that is started, or an http or https URL, not both. Arguments, `env` and `headers` belong to one of the two ways; globs of `tools` are `*`, `?` and `[ab]`; the name stands in front of its tools' names and has letters, digits, `-` and `_`. Secrets are never part of a URL: name them with `secret(...)` in `headers`.",
			"files = mcp(\"npx -y server-files\")\nmain = agent(model = \"ollama/qwen3\", prompt = \"Read.\", tools = [files])\n",
			"files = mcp(\"npx\", args = [\"-y\", \"server-files\"])\nmain = agent(model = \"ollama/qwen3\", prompt = \"Read.\", tools = [files])\n"},
		{ServerClash, "two MCP servers of one name",
			"An agent has two servers of the same name, and `server.tool` could mean a tool of either. Give one of them another name with `name =`.",
			"a = mcp(\"serve-a\", name = \"files\")\nb = mcp(\"serve-b\", name = \"files\")\nmain = agent(model = \"ollama/qwen3\", prompt = \"Read.\", tools = [a, b])\n",
			"a = mcp(\"serve-a\")\nb = mcp(\"serve-b\")\nmain = agent(model = \"ollama/qwen3\", prompt = \"Read.\", tools = [a, b])\n"},
		{NoServers, "nothing here reaches MCP servers",
			"An agent has tools of an MCP server, and the host that runs it has nothing that reaches one. The command line has; a Go host gives it with `agentscript.WithMCP`.",
			"", ""},
		{ServerNotGranted, "an MCP server may not do this",
			"To start a command, to talk to a host and to read a secret each want a grant, so that a script can do none of them by itself. On the command line these are `--allow-exec CMD`, `--allow-net HOST` and `--allow-env NAME`; a Go host decides with `mcp.WithAllow`. What is written out in the script is found when it loads, which is AS620; this is found by the run.",
			"", ""},
		{NoSecret, "a secret is not set",
			"The script names a secret with `secret(\"NAME\")`, and the host or the environment has no value under that name. A secret is looked up when its server is started or sent a request, and is in no record.",
			"", ""},
	}
}

// serverRunEntries explains AS76x: what becomes of a server while a run uses it.
func serverRunEntries() []Entry {
	return []Entry{
		{ServerUnreachable, "an MCP server cannot be reached",
			"The server could not be started, ended before it said hello, refused to let us in, or does not answer at its URL. The message has its last words from its standard error. Start it by hand with the same arguments to see what it wants.",
			"", ""},
		{ServerLost, "an MCP server was lost",
			"The server ended, or the connection broke, while it carried out a call. The model is told, also that it is not known whether the call was carried out; the next call connects anew. A server that is lost several times in a row is left alone for a while.",
			"", ""},
		{ServerProtocol, "an MCP server does not keep to the protocol",
			"What the server sends is no message of MCP, is larger than may be, does not end, or it refuses a request by a protocol error. Lines on its standard output that are no messages are passed over as long as they are few.",
			"", ""},
		{ServerTools, "the list of tools of an MCP server is of no use",
			"A tool that the script names is not among the server's tools, two have the same name, a schema is no schema of an object or larger than 256 KB, or there are too many. A tool can be left out with `tools = [\"!name\"]`.",
			"", ""},
		{ServerResult, "an MCP server's answer is not what it said",
			"The tool has an output schema, and its structured answer does not fit it. The model is told what came instead.",
			"", ""},
		{ServerTimeout, "an MCP server does not answer",
			"The server did not say hello within `timeout`, 30 seconds by default, or did not answer a call within `call_timeout`, 5 minutes by default. The call was cancelled.",
			"", ""},
		{ServerSignIn, "nobody is signed in to an MCP server",
			"The script gives the server `auth = oauth()`, and there is no sign-in to it, or none that the server still takes: it expired, was taken back, or covers less than the call needs. Sign in once with the command that the message names, `agentscript mcp login URL`; a run with a person at its terminal asks there, and a Go host with `mcp.WithSignIn`. It ends the run, and is in no record: the run can go on when somebody signed in.",
			"", ""},
		{SignInFailed, "the sign-in to an MCP server failed",
			"The authorization server of an MCP server refused, could not be reached, answered what it must not, or the person did not agree. The message has its words. Whoever it says it is must be who the MCP server names, and the issuer that the script names, if it does: a token is never asked of another one.",
			"", ""},
	}
}
