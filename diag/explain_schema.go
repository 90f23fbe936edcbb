package diag

// placementEntries explains AS4xx.
func placementEntries() []Entry {
	return []Entry{
		{AlreadyPlaced, "a node has one place",
			"Every node, agent or structure, is part of at most one structure, so that its name says where in the graph it is and nothing it remembers is shared by accident. " +
				"The message names both places. To use the same agent twice write a factory, a function that returns a new one, and call it twice. Inside `def main` the same node may be called any number of times.",
			"critic = agent(prompt = \"Object.\")\nmain = critic >> critic\n",
			"def critic():\n    return agent(prompt = \"Object.\")\n\nmain = critic() >> critic()\n"},
		{SealedNode, "the node's file is already loaded",
			"A composition can be built while its files load, and by the file that loads them. After that the graph is sealed, checked and shared by all runs. Compose at the top level, or in a factory that is called there.",
			"", ""},
		{ComposedWhileRunning, "composed inside a run",
			"Composing belongs to loading; a run only calls nodes. Inside `def main` a new agent may be made and called, but not joined to others. Build the composition at the top level and call it, or call the nodes one after the other.",
			"a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n\ndef main(x):\n    return (a >> b)(x)\n",
			"a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nboth = a >> b\n\ndef main(x):\n    return both(x)\n"},
	}
}

// schemaEntries explains AS5xx and AS6xx.
func schemaEntries() []Entry {
	return []Entry{
		{UnnamedType, "a type without a name",
			"Schemas, unions and enums are known to models by name, and take it from the variable they are assigned to. Here there is none. Assign it first, or give `_name = \"Name\"`.",
			"Answer = union(\"Yes or no\", schema(\"Yes\", why = str), schema(\"No\", why = str))\n",
			"Yes = schema(\"Yes\", why = str)\nNo = schema(\"No\", why = str)\nAnswer = union(\"Yes or no\", Yes, No)\n"},
		{BadField, "a field that cannot be",
			"The field's name, type, default or constraint makes no sense: a default of another type, `ge` above `le`, a length limit on a number, a pattern that does not compile. The label says which.",
			"Score = schema(\"A score\", value = field(int, \"0 to 10\", default = \"none\"))\n",
			"Score = schema(\"A score\", value = field(int, \"0 to 10\", default = 0))\n"},
		{UnknownField, "unknown field",
			"The schema has no field of this name. The nearest one is suggested.",
			"Point = schema(\"A point\", x = int, y = int)\norigin = Point(x = 0, y = 0, z = 0)\n",
			"Point = schema(\"A point\", x = int, y = int)\norigin = Point(x = 0, y = 0)\n"},
		{WrongValue, "a value that the type does not take",
			"The value is of another type than the field, or breaks one of its constraints. The message gives the path to it, such as `plan.steps[2]`, what was wanted and what was found. An int is accepted for a float; nothing else is converted.",
			"Point = schema(\"A point\", x = int, y = int)\norigin = Point(x = 0, y = \"0\")\n",
			"Point = schema(\"A point\", x = int, y = int)\norigin = Point(x = 0, y = 0)\n"},
		{TagClash, "a field with the name of the union's tag",
			"A union writes the variant's name into the field `type`, so no variant may have a field of that name. Rename the field, or the tag with `_tag = \"kind\"`.",
			"Bug = schema(\"A bug\", type = str)\nIdea = schema(\"An idea\", text = str)\nItem = union(\"An item\", Bug, Idea)\n",
			"Bug = schema(\"A bug\", type = str)\nIdea = schema(\"An idea\", text = str)\nItem = union(\"An item\", Bug, Idea, _tag = \"kind\")\n"},
		{UnresolvedRef, "a reference to a type that does not exist",
			"`ref(\"Name\")` stands for a type that is declared later, for recursive types. No type of that name was declared in this file by the end of the loading.",
			"Tree = schema(\"A tree\", label = str, children = list[ref(\"Treee\")])\n",
			"Tree = schema(\"A tree\", label = str, children = list[ref(\"Tree\")])\n"},
		{BadEnum, "an enum that cannot be",
			"An enum is made of at least one string, each different and not empty. Its values are these strings.",
			"Severity = enum(\"low\", \"high\", \"low\")\n",
			"Severity = enum(\"low\", \"medium\", \"high\")\n"},
		{DuplicateName, "two things of one name",
			"Two types with the same name and different content meet in one schema, or a name that must be unique (a skill, a tool, a knowledge entry, a variant) is given twice. A model could not tell them apart. Rename one; types take `_name =`.",
			"", ""},
		{MissingField, "a field is missing",
			"A field that is required was not given. A field is optional when it has a default or its type is `T | None`.",
			"Point = schema(\"A point\", x = int, y = int)\norigin = Point(x = 0)\n",
			"Point = schema(\"A point\", x = int, y = field(int, default = 0))\norigin = Point(x = 0)\n"},
		{BadSchema, "a JSON Schema that is no type",
			"`type_from_json_schema` reads the schema of a tool or a host. Either it is wrong, or it says what a type cannot, such as `not`, `if` or patterns of keys. The message begins with the place in the schema as a JSON pointer. `lenient = True` leaves out what a type cannot say, and warns of it.",
			"Args = type_from_json_schema({\"type\": \"object\", \"properties\": {\"age\": {\"type\": \"int\"}}})\n",
			"Args = type_from_json_schema({\"type\": \"object\", \"properties\": {\"age\": {\"type\": \"integer\"}}})\n"},
		{SchemaTooLarge, "a type that a provider takes in no form",
			"Providers hold answers to schemas with budgets: how deep, how many properties, optional ones, unions, values of enums. A type that needs more is written otherwise, as `check --schemas` shows. For this agent's provider no other form is left: the message names what is exceeded. Split the type into smaller ones that several agents answer with, use another provider, or set `structured = \"guided\"`, so that the prompt alone says it.",
			"", ""},
		{OutsideDirectory, "a path leads out of the script's directory",
			"`load` and `file` read what lies beside the entry script or below; absolute paths, `..` beyond it and symbolic links that lead out of it are refused. `--root DIR`, or the host, makes it a directory above. These files belong to the script and to its hash. Copy the file into the directory, or pass its content as an argument of the run.",
			"style = file(\"/etc/style.md\")\n",
			"style = file(\"docs/style.md\")\n"},
		{FileMissing, "file not found",
			"There is no such file in the script's directory, or it cannot be read. Paths are relative to the file that names them and use `/` everywhere.",
			"", ""},
	}
}
