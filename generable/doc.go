// Package generable holds types as values, and the values they describe.
//
// A [Type] says what a value may be: a str, a list[int], a schema with fields, a union of schemas. It
// is built once by a constructor ([NewSchema], [NewUnion], [NewEnum], [ListOfType], [OneOf], …), named
// by its declaration, and never changed afterwards. A [Value] is one immutable datum: a scalar, a
// [List], a [Map] or a [Record], which is an instance of a schema.
//
//	ticket, errs := generable.NewSchema("Ticket", "A support request", []generable.Field{
//		{Name: "title", Type: generable.StrT, Guide: "one line"},
//		{Name: "urgent", Type: generable.BoolT, Optional: true, Default: generable.BoolOf(false)},
//	})
//
// Most callers tell a model what they want, read its answer and use the value:
//
//   - [Type.PromptFragment], [Type.LLMDescription] and [Type.JSONSchema] are the type for a model;
//   - package lenient reads the answer, whole or while it arrives;
//   - [Value.AsStr], [Record.Get] and their like read the value, and [JSON] writes it.
//
// Values from elsewhere are held against a type by [Type.Convert], which loses nothing, and
// [Type.Conforms], which changes nothing; [Assignable] compares two types. All of them report every
// mistake at once, as [FieldErrors], each with its path.
//
// Package govalue makes types and values of Go's, package jsonschema makes types of JSON Schemas, and
// package dialect writes schemas as providers accept them.
//
// A Value is a 24-byte tagged struct and no interface: decoding a typical answer then costs a third of
// the allocations.
package generable
