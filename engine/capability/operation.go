package capability

import (
	"maps"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Operation is one thing that a capability can do.
type Operation struct {
	Kind    engine.EffectKind
	Name    string // "run"; "get", "post", "request"; "read", "write", ...; "get", "secret"
	Class   engine.Class
	Returns *generable.Type
}

// The types that operations return.
var (
	// CompletedType is the result of a command.
	CompletedType = recordType("Completed", "The result of a command",
		generable.Field{Name: "code", Type: generable.IntT, Guide: "the exit code; 128 and the signal's number for a command that a signal ended"},
		generable.Field{Name: "stdout", Type: generable.StrT, Guide: "its standard output, up to the cap; bytes that are not UTF-8 are replaced"},
		generable.Field{Name: "stderr", Type: generable.StrT, Guide: "its standard error, up to the cap"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether it wrote more than the cap to either of them"})

	// ResponseType is the response to an HTTP request.
	ResponseType = recordType("HTTPResponse", "The response to an HTTP request",
		generable.Field{Name: "status", Type: generable.IntT, Guide: "200, 404, ..."},
		generable.Field{Name: "headers", Type: generable.DictOfType(generable.StrT), Guide: "by name in lower case; several with one name are joined by a comma"},
		generable.Field{Name: "text", Type: generable.StrT, Guide: "the body, up to the cap; bytes that are not UTF-8 are replaced"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether the body is longer than the cap"},
		generable.Field{Name: "url", Type: generable.StrT, Guide: "the URL that answered, after redirects"})

	// FileStatType describes a file.
	FileStatType = recordType("FileStat", "Information about a file",
		generable.Field{Name: "path", Type: generable.StrT, Guide: "as it was given"},
		generable.Field{Name: "kind", Type: &generable.Type{Kind: generable.EnumType, Name: "FileKind", Values: []string{"file", "dir", "other"}}, Guide: "file, dir, or other: a pipe, a device, a socket"},
		generable.Field{Name: "size", Type: generable.IntT, Guide: "in bytes"},
		generable.Field{Name: "modified", Type: generable.StrT, Guide: "when it was last written, as 2026-01-31T12:00:00Z"})

	// SecretType represents the value of an environment variable inside a request. The handler replaces it with the
	// value.
	SecretType = recordType("Secret", "The value of an environment variable that is not shown",
		generable.Field{Name: "env", Type: generable.StrT, Guide: "the name of the variable"})
)

func recordType(name, doc string, fields ...generable.Field) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: name, Doc: doc, Fields: fields}
}

// Results returns the types of the results of all operations.
func Results() (all []*generable.Type) {
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		all = append(all, operations[name].Returns)
	}
	return all
}

// Lookup finds an operation by module and name, as in scripts: "fs.read".
func Lookup(name string) (*Operation, bool) {
	op, ok := operations[name]
	return op, ok
}

var operations = map[string]*Operation{
	"sh.run":       {engine.EffectExec, "run", engine.ClassOnce, CompletedType},
	"http.get":     {engine.EffectHTTP, "get", engine.ClassRead, ResponseType},
	"http.post":    {engine.EffectHTTP, "post", engine.ClassOnce, ResponseType},
	"http.request": {engine.EffectHTTP, "request", engine.ClassOnce, ResponseType},
	"fs.read":      {engine.EffectFS, "read", engine.ClassRead, generable.StrT},
	"fs.write":     {engine.EffectFS, "write", engine.ClassIdempotent, generable.NoneT},
	"fs.list":      {engine.EffectFS, "list", engine.ClassRead, generable.ListOfType(generable.StrT)},
	"fs.exists":    {engine.EffectFS, "exists", engine.ClassRead, generable.BoolT},
	"fs.stat":      {engine.EffectFS, "stat", engine.ClassRead, FileStatType},
	"fs.remove":    {engine.EffectFS, "remove", engine.ClassIdempotent, generable.NoneT},
	"env.get":      {engine.EffectEnv, "get", engine.ClassRead, generable.OneOf(generable.StrT, generable.NoneT)},
	"env.secret":   {engine.EffectEnv, "secret", engine.ClassRead, generable.BoolT},
}

// Names returns the names of all operations, sorted.
func Names() []string { return slices.Sorted(maps.Keys(operations)) }

// HTTPClass returns the class of a request with the given method.
func HTTPClass(method string) engine.Class {
	switch method {
	case "GET", "HEAD", "OPTIONS":
		return engine.ClassRead
	case "PUT", "DELETE":
		return engine.ClassIdempotent
	}
	return engine.ClassOnce
}
