// Package value has the values of the language: types, nodes, instances of schemas and the parts
// that agents are made of, and how data crosses between a script and the engine.
package value
