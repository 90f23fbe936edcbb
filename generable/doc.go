// Package generable holds types as values, the values they describe, and the texts and
// decoders that connect both to language models.
//
// A [Type] is built once, named by its declaration, and never changed afterwards. It yields
// five artefacts: a description for a model ([Type.LLMDescription]), a JSON Schema
// ([Type.JSONSchema]), a prompt fragment ([Type.PromptFragment]), a lenient decoder
// ([Decode]) and a value that grows field by field ([Partial]).
//
// A [Value] is a 24-byte tagged struct rather than a boxed interface: decoding a typical
// answer then costs a third of the allocations. Values are immutable once shared.
//
// The package imports the standard library alone.
package generable
