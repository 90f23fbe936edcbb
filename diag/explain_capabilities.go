package diag

// capabilityEntries explains what of AS6xx is about `sh`, `http`, `fs` and `env`.
func capabilityEntries() []Entry {
	return []Entry{
		{NotGranted, "a use that is not granted",
			"A script touches the world outside of its run by `sh`, `http`, `fs` and `env` alone, and each only as far as whoever runs it grants: a command by `--allow-exec`, a host by `--allow-net`, a directory by `--allow-fs`, an environment variable by `--allow-env`; a host program by the options of the package `grant`. The command, the host and the secrets of an MCP server want the same. The message names the flag. Look at what the script does there before you add it; `check --manifest` lists all that a script may touch without running it.",
			"", ""},
		{SecretAsText, "a secret is read as a text",
			"`env.get` gives a text, which goes wherever the script sends it: to a model, into the events, into the journal. The name of this variable says that nobody may see its value. `env.secret` gives it in a form that can be put into the headers, the address or the body of a request and into the input of a command, and that is only known there. Where the name misleads, the grant says so: `--allow-env NAME:plain`.",
			"", ""},
		{BadGrant, "what is granted cannot be",
			"A grant is settled before a script is loaded: a command is looked up on the path and must be there, a directory must exist, a host is a name, an address or a range of addresses, with a port or without. The message says what is wrong with this one.",
			"", ""},
		{Widened, "a script may touch more than it did",
			"`check --manifest-against FILE` compares what a script may touch with a manifest that was saved by `check --manifest --format json`. Something is there that was not: a command, a host, a path, a variable, a tool or its effect, a model. Look at the place, and save the manifest anew when it is meant to be so. What is no longer there is no finding.",
			"", ""},
	}
}

// touchEntries explains what a run meets of capabilities.
func touchEntries() []Entry {
	return []Entry{
		{UngrantedUse, "a run came to a use that is not granted",
			"The command, host, path or variable was not written out in the script, so that only the run could tell that it is not granted. A tool that a model calls gives it this message, and the model may do something else. The message names the flag that grants the use.",
			"", ""},
		{TouchFailed, "a command, request or file failed",
			"The operation was granted and did not succeed: the command could not be started, the host could not be reached or broke off, the file is not there. An exit code that is not 0 and a status such as 404 are no failures: they are in the result. `attempt` goes on without it.",
			"", ""},
		{TouchTooBig, "too large",
			"A file is larger than may be read at once, or a text larger than may be written or sent. Read a part with `limit =`. What commands and servers give is cut at its cap instead, and the result says so by `truncated`.",
			"", ""},
		{TouchRefused, "refused for safety",
			"The target is granted, and what it leads to is not: a host that has an address inside the own network, a redirect to another host, a path that leaves its directory by a symbolic link, a pipe or a device, an address that carries a password. An address is granted by itself: `--allow-net 10.0.0.7`.",
			"", ""},
	}
}
