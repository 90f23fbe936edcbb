package engine

import "github.com/agentscript/agentscript/generable"

// Operation is one thing that a capability can do.
type Operation struct {
	Kind    EffectKind
	Name    string // "run"; "get", "post", "request"; "read", "write", ...; "get", "secret"
	Class   Class
	Returns *generable.Type
}

// What operations of capabilities give.
var (
	// CompletedType is what came of a command.
	CompletedType = recordType("Completed", "What came of a command",
		generable.Field{Name: "code", Type: generable.IntT, Guide: "the exit code; 128 and the signal's number for a command that a signal ended"},
		generable.Field{Name: "stdout", Type: generable.StrT, Guide: "what it wrote, up to the cap; bytes that are no UTF-8 are replaced"},
		generable.Field{Name: "stderr", Type: generable.StrT, Guide: "what it complained of, up to the cap"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether it wrote more than the cap of one of them"})

	// ResponseType is the answer to a request of HTTP.
	ResponseType = recordType("HTTPResponse", "The answer to a request of HTTP",
		generable.Field{Name: "status", Type: generable.IntT, Guide: "200, 404, ..."},
		generable.Field{Name: "headers", Type: generable.DictOfType(generable.StrT), Guide: "by name in lower case; several of one name joined by a comma"},
		generable.Field{Name: "text", Type: generable.StrT, Guide: "the body, up to the cap; bytes that are no UTF-8 are replaced"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether the body is longer than the cap"},
		generable.Field{Name: "url", Type: generable.StrT, Guide: "what answered, after redirects"})

	// FileStatType is what is known of a file.
	FileStatType = recordType("FileStat", "What is known of a file",
		generable.Field{Name: "path", Type: generable.StrT, Guide: "as it was given"},
		generable.Field{Name: "kind", Type: &generable.Type{Kind: generable.EnumType, Name: "FileKind", Values: []string{"file", "dir", "other"}}, Guide: "file, dir, or other: a pipe, a device, a socket"},
		generable.Field{Name: "size", Type: generable.IntT, Guide: "in bytes"},
		generable.Field{Name: "modified", Type: generable.StrT, Guide: "when it was written last, as 2026-01-31T12:00:00Z"})

	// SecretType stands for the value of an environment variable inside of a request: its
	// handler puts the value in its place.
	SecretType = recordType("Secret", "The value of an environment variable that is not shown",
		generable.Field{Name: "env", Type: generable.StrT, Guide: "the name of the variable"})
)

func recordType(name, doc string, fields ...generable.Field) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: name, Doc: doc, Fields: fields}
}

// OperationOf finds an operation by module and name as scripts write them: "fs.read".
func OperationOf(name string) (*Operation, bool) {
	op, ok := operations[name]
	return op, ok
}

var operations = map[string]*Operation{
	"sh.run":       {EffectExec, "run", ClassOnce, CompletedType},
	"http.get":     {EffectHTTP, "get", ClassRead, ResponseType},
	"http.post":    {EffectHTTP, "post", ClassOnce, ResponseType},
	"http.request": {EffectHTTP, "request", ClassOnce, ResponseType},
	"fs.read":      {EffectFS, "read", ClassRead, generable.StrT},
	"fs.write":     {EffectFS, "write", ClassIdempotent, generable.NoneT},
	"fs.list":      {EffectFS, "list", ClassRead, generable.ListOfType(generable.StrT)},
	"fs.exists":    {EffectFS, "exists", ClassRead, generable.BoolT},
	"fs.stat":      {EffectFS, "stat", ClassRead, FileStatType},
	"fs.remove":    {EffectFS, "remove", ClassIdempotent, generable.NoneT},
	"env.get":      {EffectEnv, "get", ClassRead, generable.OneOf(generable.StrT, generable.NoneT)},
	"env.secret":   {EffectEnv, "secret", ClassRead, generable.BoolT},
}

// HTTPClass is the class of a request by its method.
func HTTPClass(method string) Class {
	switch method {
	case "GET", "HEAD", "OPTIONS":
		return ClassRead
	case "PUT", "DELETE":
		return ClassIdempotent
	}
	return ClassOnce
}
